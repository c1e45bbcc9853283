# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of the tree: which file may include which, what the library exports and needs, sizes of files.

usage: house.py [ROOT [BUILD]]: checks other folders, in which a fault was planted to see it found.
"""
import ast
import glob
import os
import re
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test  # noqa: E402
from dlprof_test import check, equal, finish, need_shim, say  # noqa: E402

ROOT = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else dlprof_test.ROOT
if len(sys.argv) > 2:
    dlprof_test.SHIM = os.path.join(sys.argv[2], "shim", "libdlprof.so")
SHIM = dlprof_test.SHIM

SOURCES = (".c", ".h", ".S", ".def", ".py", ".sh", ".sql", ".build", ".map")
# These have names of CPython's modules, but no program beside them imports those modules.
SHADOWS = ("tests/bench/profile.py", "tests/cli/trace.py")
FOLDERS = ("include", "shim", "analyzer", "tests", "examples", ".ci")
MAX_LINES = 700
MAX_COLUMNS = 100
MAX_GLIBC = (2, 34)

# All functions that the library may import. It must not call those that allocate, lock, write or end: they may be
# interposed by the host. Variants that compilers use for memcpy() and the like are allowed.
ALLOWED = re.compile(
    r"((raw)?mem(chr|cmp|cpy|mem|move|pcpy|rchr|set)|bcmp|stpn?cpy"
    r"|str(casecmp|chr|chrnul|cmp|cpy|cspn|len|ncasecmp|ncmp|ncpy|nlen|pbrk|rchr|spn|str)"
    r"|_*environ|__errno_location|getenv|getauxval|gnu_get_libc_version|clock_gettime"
    r"|dl_iterate_phdr|dladdr1?|dlerror|dlopen|dlvsym"
    r"|PySys_AddAuditHook|PyUnstable_Module_SetGIL"
    r"|_ITM_(de)?registerTMCloneTable|__gmon_start__|__cxa_finalize|__register_atfork)")

# Functions that tests/shim/host_*.c call and that are no hooks. All others that they call must be hooks, so
# that a row that is lost from hooks.def is noticed.
UNHOOKED = set("""
    __fdelt_chk __isoc23_strtol aio_error aio_error64 alphasort alphasort64 clock_gettime clone
    dlopen epoll_create1 epoll_ctl exit fdopen feof fflush fgetc fgetpos fgetpos64 fileno fork fputs
    free ftell ftello ftello64 fwrite getpid gnu_get_libc_version lseek lseek64
    name_to_handle_at pipe popen printf pthread_cond_signal pthread_create pthread_mutex_lock
    pthread_mutex_trylock pthread_mutex_unlock pthread_self putchar puts rewinddir sem_init
    sem_post setitimer sigaction socketpair strcmp strtol umask ungetc
""".split())

VIEWS = {
    "meta": "key value",
    "process": "pid ppid rank role worker_id loader_id start_ns end_ns exit command",
    "loader": "loader_id rank kind workers prefetch_factor in_order persistent batch_size",
    "batch": "rank loader_id epoch batch begin_ns wait_ns receive_ns step_ns compute_ns worker_id "
             "load_ns ready_ns head_ready qdepth hol_ns h2d_ns h2d_bytes gpu_busy_ns "
             "gpu_idle_wait_ns before_ns backward_ns between_ns optimizer_ns save_ns starved excluded",
    "load": "rank loader_id epoch batch worker_id pid begin_ns load_ns collate_ns transfer_ns "
            "cpu_ns samples open_count open_ns read_count read_bytes read_ns storage_bytes "
            "decode_count decode_ns decode_bytes other_ns",
    "decode": "rank library format width_class count ns pixels bytes",
    "file": "rank path count bytes ns slowest_ns",
    "stage": "rank loader_id epoch stage parent name kind begin_ns window_ns elements busy_ns own_ns "
             "cpu_ns read_ns parallel at_once queue capacity",
    "slow": "ts_ns pid tid class what ns stack",
    "gpu_kernel": "rank name count ns",
    "gpu_step": "rank loader_id epoch batch begin_ns step_ns gpu_busy_ns kernel_count graph_count "
                "memset_ns d2h_ns d2h_bytes h2d_pageable_bytes nccl_ns sync_event_ns "
                "sync_stream_ns sync_context_ns gap_data_ns gap_h2d_ns gap_sync_ns gap_host_ns "
                "gap_other_ns",
    "gap": "rank begin_ns end_ns why",
    "frame": "id file function line",
    "stack": "rank role loader_id phase frames count ns",
    "doing": "rank pid role worker_id since_ns seen_ns frames",
    "loss": "pid what count",
    "note": "level text",
    "mark": "rank ts_ns pid tid text",
}

# The lists of columns.h that make up a table.
TABLES = {
    "t_batch": "BATCH_KEY BATCH_SEEN STEP_PARTS BATCH_LOADED BATCH_COPIED",
    "t_gpu_step": "GPU_STEP_COLUMNS",
    "t_gpu_call": "GPU_CALL_TRAINING GPU_CALL_COLUMNS",
    "t_gpu_part": "GPU_PART_COLUMNS",
}


def files(*folders, endings=SOURCES):
    for folder in folders:
        for where, names, leaves in os.walk(os.path.join(ROOT, folder)):
            names[:] = [name for name in names if name != "__pycache__"]
            for leaf in sorted(leaves):
                path = os.path.relpath(os.path.join(where, leaf), ROOT)
                if leaf.endswith(endings) or path == os.path.join(".ci", "run"):
                    yield path


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


# Files of other projects that comments name.
FOREIGN = {"cupti_activity.h", "libio.h", "b.c"}

# The layer of each folder in shim/: a folder may include files of its own layer, and of lower ones.
HEIGHT = {"base": 0, "record": 1, "slots": 2, "batch": 2, "decode": 3, "hooks": 3, "python": 3,
          "cuda": 3, ".": 4}


def includes(path):
    return re.findall(r'^\s*#\s*include\s*([<"][^>"]+)[>"]', text(path), re.MULTILINE)


def check_includes():
    for path in files("shim", endings=(".c", ".h", ".def")):
        folder = os.path.dirname(path)
        for name in includes(path):
            kind, name = name[0], name[1:]
            if kind == "<":
                check(not re.match(r"(sqlite3|Python|torch|cuda|criterion)", name), path,
                      "includes", name)
            else:
                own = any(os.path.exists(os.path.join(ROOT, base, name))
                          for base in (folder, "shim"))
                check(name.startswith("dlprof/") or name == "dlprof.h" or own, path, "includes", name)
    for path in files("analyzer", endings=(".c", ".h")):
        names = includes(path)
        if not path.startswith("analyzer/store/"):
            check("<sqlite3.h" not in names, path, "includes sqlite3.h; only store/ may")
            check(not re.search(r"\bsqlite3_\w+\s*\(", text(path)), path, "calls sqlite3")
        if path != "analyzer/store/database/rows.h":
            check("sqlite3_column_text" not in text(path), path,
                  "reads a text past rows_text(), which --redact needs")
        check(not any(re.search(r"shim/", name) for name in names), path, "looks into shim/")
    for path in files("analyzer/analysis", endings=(".c", ".h")):
        for name in includes(path):
            check(not re.match(r'[<"](stdio|unistd|fcntl|time|sys/|store/|render/|report/|drain/)',
                               name), path, "includes", name)
        code = re.sub(r"/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"", "", text(path), flags=re.DOTALL)
        found = re.findall(r"\b(fopen|open|read|write|f?printf|puts|getenv|time|clock_gettime"
                           r"|system|exit|abort)\s*\(", code)
        equal(found, [], path, "has input or output")


def room_of(path):
    return path.split("/")[0] if "/" in path else "."


def check_rooms():
    """Folders in shim/ include only lower layers or their own, and no two of one layer include each other."""
    arrows = {}
    for path in files("shim", endings=(".c", ".h", ".def", ".S")):
        own = path[len("shim/"):]
        for name in {name[1:] for name in includes(path)}:
            if os.path.exists(os.path.join(ROOT, "shim", name)):
                arrows.setdefault((room_of(own), room_of(name)), []).append((own, name))
    for (user, used), pairs in sorted(arrows.items()):
        check(HEIGHT[used] <= HEIGHT[user], "shim/{} includes upwards:".format(user), pairs)
        if user < used and HEIGHT[used] == HEIGHT[user]:
            check((used, user) not in arrows, "a circle of folders:", pairs, arrows.get((used, user)))


def circles_of(arrows):
    """Returns groups of names that use one another, however indirectly. `arrows`: what each name uses."""
    reached = {own: set(used) - {own} for own, used in arrows.items()}
    grown = True
    while grown:
        grown = False
        for own, used in reached.items():
            further = set().union(*(reached.get(name, set()) for name in used)) - used
            used |= further
            grown |= bool(further)
    circles = {frozenset(name for name in used if own in reached.get(name, ()))
               for own, used in reached.items() if own in used}
    return sorted(map(sorted, circles))


def check_circles(room):
    """No two modules of `room`, and no two of its folders, include one another. A .c and its .h are one module."""
    arrows, folders = {}, {}
    for path in files(room, endings=(".c", ".h", ".def", ".S")):
        own = os.path.splitext(os.path.relpath(path, room))[0]
        for name in includes(path):
            for found in (name[1:], os.path.join(os.path.dirname(own), name[1:])):
                if os.path.exists(os.path.join(ROOT, room, found)):
                    arrows.setdefault(own, set()).add(os.path.splitext(found)[0])
                    folders.setdefault(os.path.dirname(own), set()).add(os.path.dirname(found))
    equal(circles_of(arrows), [], room, "has circles of files")
    equal(circles_of(folders), [], room, "has circles of folders")


def check_mentions():
    """If a comment names a file of this tree, with or without its folder, the file exists."""
    known = set(files(*FOLDERS))
    rooms = {folder for path in known for folder in os.path.dirname(path).split("/")}
    leaves = {os.path.basename(path) for path in known}
    counted = 0
    for path in files("shim", "analyzer", "include", "tests", endings=(".c", ".h", ".def", ".S")):
        for comment in re.findall(r"/\*.*?\*/", text(path), re.DOTALL):
            for name in re.findall(r"(?<![\w/.<])((?:\w+/)*\w+\.(?:c|h|S|def|sql))\b", comment):
                room, leaf = os.path.split(name)
                if room and not set(room.split("/")) & rooms:
                    continue  # a file of another project, such as linux/magic.h
                counted += 1
                found = any(("/" + one).endswith("/" + name) for one in known) if room else leaf in leaves
                check(found or (not room and leaf in FOREIGN), path, "names", name, "that is not there")
    check(counted > 300, "mentions of files were found:", counted)


def check_calls(room, *patterns):
    """No two object files call one another, however indirectly. Includes do not show this if files share a header."""
    objects = sorted(path for pattern in patterns for path in glob.glob(os.path.join(dlprof_test.BUILD, pattern)))
    defines, needs = {}, {}
    for path in objects:
        listed = subprocess.run(["nm", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        for line in listed.stdout.splitlines():
            kind, name = line.split()[-2:]
            if kind == "U":
                needs.setdefault(path, set()).add(name)
            elif kind.isupper():
                defines.setdefault(name, path)
    arrows = {path: {defines[name] for name in needs.get(path, ()) if name in defines} for path in objects}
    check(len(objects) > 50 and sum(map(len, arrows.values())) > len(objects), room, "has objects:", len(objects))
    equal([[os.path.basename(path) for path in circle] for circle in circles_of(arrows)], [], room,
          "has circles of files that call one another")


# Partials (part.c) store causes and verdicts as numbers: version of partials, checksum of the names in order.
PARTS = 15, 1040742680


def check_parts():
    """If the order of causes or verdicts changes, the version of partials must rise."""
    names = re.findall(r"^CAUSE\((\w+),", text("analyzer/analysis/cause/causes.def"), re.M)
    names += re.findall(r"^\t(STALL_VERDICT_\w+),", text("analyzer/analysis/account/stall.h"), re.M)
    version = int(re.search(r"^#define VERSION +(\d+)", text("analyzer/store/fleet/part.c"), re.M)[1])
    check(len(names) > 20, "causes and verdicts, read", names)
    equal((version, zlib.crc32(" ".join(names).encode())), PARTS,
          "the order of causes and verdicts, which part.c stores: raise its VERSION, and write both here")


# The most lines that each folder of the product may have. A change that needs more raises its folder's
# number in the same commit, and says why.
BUDGETS = {
    "include": 1460, "shim": 27706, "shim/python": 7256, "shim/cuda": 3849, "shim/record": 4344,
    "analyzer/drain": 12573, "analyzer/store": 8223, "analyzer/analysis": 18232,
    "analyzer/analysis/predict": 3397, "analyzer/analysis/gate": 1106, "analyzer/analysis/ranks": 1651,
    "analyzer/analysis/gpu": 1120, "analyzer/render": 14434, "analyzer/render/html": 3099,
    "analyzer/render/jobs": 1049, "analyzer/render/gate": 867, "analyzer/report": 7197,
    "analyzer/launch": 4548, "analyzer/launch/doctor": 1064,
}


def check_budgets():
    for folder, most in BUDGETS.items():
        count = sum(len(text(path).splitlines()) for path in
                    files(folder, endings=SOURCES + (".js", ".css", ".in")))
        check(0 < count <= most, folder, "has", count, "lines of", most)


def check_readme():
    """README.md names the two commands that a newcomer needs, and CI runs the second one."""
    for command in ("examples/quickstart.sh", "tests/run.sh"):
        check(re.search(r"^    " + re.escape(command) + r"\s", text("README.md"), re.M), "README.md",
              "does not say", command)
    check("tests/run.sh" in text(".ci/run"), ".ci/run calls another command than README.md names")


def check_case_study():
    """Each line of code that a screen in case-study.md names is in the function that the screen names."""
    named = re.findall(r"(\w+), (examples/case-study/\w+\.py):(\d+)", text("examples/case-study.md"))
    check(len(named) >= 3, "examples/case-study.md names lines of", named)
    for function, path, line in named:
        above = re.findall(r"^ *def (\w+)", "\n".join(text(path).splitlines()[:int(line)]), re.M)
        check(above[-1:] == [function], "examples/case-study.md:", path, line, "is not in", function)


def check_frameworks():
    """Each module that the shim patches belongs to a package in frameworks.def."""
    packages = re.findall(r'^FRAMEWORK\("([\w.]+)",', text("include/dlprof/frameworks.def"), re.M)
    loaders = text("shim/python/loaders/loaders.def")
    macros = dict(re.findall(r'^#define (\w+) "([\w.]+)"$', loaders, re.M))
    modules = [macros.get(name) or name.strip('"') for name in
               re.findall(r'^LOADER\(\w+, "[^"]*", ([\w.]+|"[^"]*"),', loaders, re.M)]
    equal(len(modules), len(re.findall(r"^LOADER\(", loaders, re.M)), "rows of loaders.def, read")
    modules += re.findall(r'^TARGET\("([^"]+)"', text("shim/python/targets.def"), re.M)
    modules.remove("multiprocessing.resource_sharer")  # a module of Python's own that PyTorch's workers use
    for module in modules:
        check(any((module + ".").startswith(package + ".") for package in packages), module,
              "is of no package in frameworks.def")


def check_meta():
    """A meta key that C or SQL names is a row of meta.def, and every row is written."""
    table = text("include/dlprof/meta.def")
    found = re.findall(r'^META\((\w+), "([\w.]+)", \w+, (\w+), ".*"\)$', table, re.M)
    equal(len(found), len(re.findall(r"^META\(", table, re.M)), "rows of meta.def that can be read")
    keys = {key: by for _, key, by in found}
    named = set()
    for path in files("shim", endings=(".c",)):
        for key in re.findall(r"""note_(?:add|format)\('m', "([\w.]+) |\bstate_note\("([\w.]+)",""", text(path)):
            check(keys.get("".join(key)) == "PROCESS", path, "notes", key, "which meta.def lacks")
    for path in files("analyzer", endings=(".c", ".h", ".sql")):
        named.update(re.findall(r"\bMETA_([A-Z0-9_]+)", text(path)))
        for where in re.findall(r"\bkey (?:=|[<>]=|IN) *(\(?[^=)?]*?'[^)?]*)", text(path)):
            for key in re.findall(r"'([a-z][\w.]*)'", where.split("AND key <")[0]):
                check(key in keys or key == "gpu.", path, "asks for", key, "which meta.def lacks")
    for name, key, by in found:
        check(by == "PROCESS" or name in named, "nobody writes", key)


def check_options():
    """`python -m dlprof` knows which options of `run` and `tune` take a word: those of launch/options.c."""
    rows = re.findall(r'\{"([a-z-]+)",(?: \'(\w)\',)?([^}]*)\.verbs = (RUN|RECORDS|TUNE|ALL)\}',
                      text("analyzer/launch/options.c"))
    taken = {word for name, letter, rest, _ in rows if re.match(r' "|\s+\.argument', rest)
             for word in ("--" + name, letter and "-" + letter) if word}
    known = re.search(r"_WITH_VALUE = (\{.*?\})", text("analyzer/python/dlprof/__main__.py"), re.DOTALL)
    equal(sorted(ast.literal_eval(known.group(1))), sorted(taken), "_WITH_VALUE")


# These write keys in C: numbers of the HTML page, Chrome's traces, and rows that are streamed.
KEYS_IN_C = re.compile(r"analyzer/render/(html/|run/trace\.c|run/batches\.c|form/)|analyzer/report/data/cmd_sql\.c")


def check_keys():
    """Keys of JSON are written only through tables (form/facts.h), since the manual is made of them, too."""
    for path in files("analyzer", endings=(".c", ".h")):
        if not KEYS_IN_C.match(path):
            found = re.findall(r'\bjsonw_\w+\([^;]*?, "(\w+)"', text(path))
            equal([key for key in found if not key.startswith("dlprof")], [], path,
                  "writes keys that the manual lacks: they belong into its .def")


def check_constants():
    """The table of constants in analysis/README.md has the values of the code, and names tests."""
    table = text("analyzer/analysis/README.md").partition("## Constants that decide a verdict")[2]
    rows = re.findall(r"^\| `(\w+)` \| `(\S+)` \| ([0-9.]+) \|.*\| `(\w+)` \|$", table, re.M)
    check(len(rows) >= 7 and len(rows) == table.count("| `") // 3, "rows of constants, read", len(rows))
    for name, path, value, test in rows:
        equal(re.findall(r"^#define {}\s+(\S+)".format(name), text("analyzer/analysis/" + path), re.M), [value],
              "the value of", name)
        check(os.path.exists(os.path.join(ROOT, "tests", "unit", test + ".c")), name, "has no test", test)


def check_formats():
    """No format for printf() is chosen by ?:, because the compiler may check only one of the two formats."""
    for path in files("shim", "analyzer", endings=(".c", ".h")):
        found = re.findall(r'\b(?!text_add)\w+\((?:[^;"(]|\([^;"()]*\))*\?\s*"[^"]*%[^;]*;', text(path))
        equal(found, [], path, "chooses a format by ?:")


def check_files():
    for path in list(files(*FOLDERS)) + ["meson.build"]:
        lines = text(path).splitlines()
        check(len(lines) <= MAX_LINES, path, "has", len(lines), "lines")
        if path.endswith((".c", ".h")):
            for number, line in enumerate(lines, 1):
                check(len(line.rstrip("\n").expandtabs(8)) <= MAX_COLUMNS, path, "line", number,
                      "is too wide")
        head = "\n".join(lines[:3])
        if lines and not path.endswith(".sql"):
            check("SPDX-License-Identifier: Apache-2.0" in head, path, "has no SPDX line")
        for number, line in enumerate(lines, 1):
            check(line == line.rstrip(), "{}:{}".format(path, number), "ends in blanks")


def check_names():
    """No script has the name of a module of CPython, since programs beside it would import the script instead."""
    for path in files("tests", endings=(".py",)):
        name = os.path.basename(path)[:-len(".py")]
        if path.startswith("tests/lib/frameworks/"):  # packages, which tests copy into folders of their own
            continue
        check(name not in getattr(sys, "stdlib_module_names", ()) or path in SHADOWS, path,
              "is called like a module of CPython")


def check_views():
    """A database made of schema.sql has the promised views, with the promised columns."""
    import sqlite3

    database = sqlite3.connect(":memory:")
    database.executescript(text("analyzer/store/database/schema.sql"))
    for view, expected in VIEWS.items():
        kind = database.execute("SELECT type FROM sqlite_master WHERE name = ?",
                                (view,)).fetchall()
        equal(kind, [("view",)], "view", view)
        columns = [row[1] for row in database.execute("PRAGMA table_info({})".format(view))]
        # Columns may be added anywhere, but the promised ones keep their order.
        equal([c for c in columns if c in expected.split()], expected.split(), "columns of", view)
        database.execute("SELECT * FROM {}".format(view)).fetchall()
    lists = text("analyzer/store/database/columns.h")
    for table, names in TABLES.items():
        columns = [row[1] for row in database.execute("PRAGMA table_info({})".format(table))]
        listed = [column for name in names.split() for column in re.findall(
            r"X\((\w+)", re.search(r"#define " + name + r"\(X\)(.*?[^\\])\n", lists, re.S).group(1))]
        equal(sorted(set(listed) | {"loader_id", "epoch", "task"}), sorted(columns), "columns of", table,
              "in schema.sql and columns.h")


def hook_names():
    table = text("shim/hooks/hooks.def")
    rows = re.findall(r"^HOOK.*", table, re.MULTILINE)
    names = re.findall(r"^HOOK\w*\(.*?\b(\w+), \(", table, re.MULTILINE)
    equal(len(names), len(rows), "rows of hooks.def that this test can read")
    equal(sorted(set(names)), sorted(names), "hooks.def has a name once")
    # The functions in assembly, which need their caller's address.
    entries = re.findall(r"^\s*\.globl\s+(\w+)", text("shim/slots/dl.S"), re.MULTILINE)
    equal(sorted(set(entries)), ["dlsym"], "entries of dl.S")
    # Wrapped functions of libcupti, which show that other tools use it. CUDA itself calls the Initialize functions.
    table = text("shim/cuda/foreign.def")
    foreign = re.findall(r"^FOREIGN\((\w+), \(", table, re.MULTILINE)
    equal(len(foreign), len(re.findall(r"^FOREIGN", table, re.MULTILINE)), "rows of foreign.def")
    check(all(name.startswith("cupti") for name in foreign), "foreign.def is of libcupti")
    return set(names) | set(entries), set(foreign) | {"InitializeInjection",
                                                             "InitializeInjectionNvtx2"}


def tool(*argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout.decode()


def symbols(*flags, path=None):
    """Returns the library's dynamic symbols, without those of type A, which are names of versions."""
    return [line.split()[-1] for line in tool("nm", "-D", *flags, path or SHIM).splitlines()
            if " A " not in line]


def check_exports(hooks, foreign):
    exported = {name.split("@")[0] for name in symbols("--defined-only")}
    ours = {name for name in exported if name.startswith("dlprof_")}
    equal(sorted(exported - ours - hooks - foreign), [],
          "exported, but no row of hooks.def or cuda/foreign.def")
    equal(sorted((hooks | foreign) - exported), [],
          "in hooks.def or cuda/foreign.def, but not exported")
    marks = re.findall(r"^DLPROF_MARK\((dlprof_\w+),", text("include/dlprof.h"), re.MULTILINE)
    equal(sorted(ours), sorted(marks), "exported dlprof_*, against dlprof.h")
    say(len(hooks), "hooks")


def check_needs(hooks):
    needed = re.findall(r"NEEDED.*\[(.*)\]", tool("readelf", "-dW", SHIM))
    equal(needed, ["libc.so.6"], "NEEDED")
    undefined = symbols("--undefined-only")
    for name in undefined:
        plain = name.split("@")[0]
        check(ALLOWED.fullmatch(plain), "the shim needs", plain)
        check(plain not in hooks, "the shim calls what it wraps:", plain)
    versions = sorted(tuple(map(int, v.split("."))) for v in
                      re.findall(r"@GLIBC_(\d+\.\d+)", "\n".join(undefined)))
    say("newest glibc symbol version needed:", versions[-1] if versions else None)
    check(all(v <= MAX_GLIBC for v in versions), "needs a glibc newer than", MAX_GLIBC)
    headers = tool("readelf", "-lW", SHIM)
    check(not re.search(r"GNU_STACK.*RWE", headers), "the stack is executable")
    tls = re.search(r"^\s*TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x[0-9a-f]+)", headers, re.MULTILINE)
    size = int(tls.group(1), 16) if tls else 0
    say("thread-local bytes:", size)
    # If the library is loaded late, more bytes may not fit into the static block.
    check(size <= 64, "thread-local bytes", size)
    # Python may end a thread by unwinding its stack without the GIL; the library must not run code then.
    sections = tool("readelf", "-SW", SHIM)
    check(".text" in sections and ".gcc_except_table" not in sections, SHIM, "acts on unwinding")
    relocations = tool("readelf", "-rW", SHIM)
    check("TLSDESC" not in relocations and "DTPMOD" not in relocations,
          "thread-local storage is not initial-exec")


def check_coverage(hooks):
    """Every hook is called by one of the programs that compare results and errno."""
    folder = os.path.join(os.path.dirname(os.path.dirname(SHIM)), "tests", "shim")
    hosts = [name for name in ("host-plain", "host-offset64", "host-fortified")
             if os.path.exists(os.path.join(folder, name))]
    if not hosts:
        say("the host programs are not built: coverage of the hooks is not checked")
        return
    called = {name.split("@")[0] for host in hosts
              for name in symbols("--undefined-only", path=os.path.join(folder, host))}
    equal(sorted(hooks - called), [], "hooks that tests/shim/host_calls.c does not call")
    lost = {name for name in called - hooks - UNHOOKED
            if not re.match(r"_ITM_|__(cxa|gmon|libc_start|errno|stack|\w*printf)", name)}
    equal(sorted(lost), [], "called by tests/shim/host_calls.c, and no hook")


def main():
    check_includes()
    check_rooms()
    check_circles("analyzer")
    check_circles("shim")
    check_calls("analyzer", "analyzer/*.p/*.o", "analyzer/line/*.p/*.o")
    check_mentions()
    check_budgets()
    check_readme()
    check_case_study()
    check_parts()
    check_frameworks()
    check_meta()
    check_options()
    check_keys()
    check_constants()
    check_formats()
    check_files()
    check_names()
    check_views()
    need_shim()
    hooks, foreign = hook_names()
    check_exports(hooks, foreign)
    check_needs(hooks)
    check_coverage(hooks)
    finish()


main()
