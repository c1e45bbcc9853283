# SPDX-License-Identifier: Apache-2.0
"""`dlprof doctor` finds each fault when it is there, and only then."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

LOOP = """
import ctypes, time
shim = ctypes.CDLL(None)
for i in range(10000):
    shim.dlprof_batch_begin()
    shim.dlprof_load_begin(ctypes.c_int64(i))
    time.sleep(0.002)
    shim.dlprof_load_end(ctypes.c_int64(i))
    shim.dlprof_batch_end(ctypes.c_int64(i))
    time.sleep(0.002)
"""


def doctor(*arguments, program=t.DLPROF, **changes):
    """Returns {id of a check: [(status, text, fix)]}; "report": what dlprof-report says of the run."""
    done = t.run([program, "doctor", "--json", "-q"] + list(arguments),
                 env=t.environment(preload=False, **changes), timeout=170)
    t.check(done.status in (0, 1), arguments, "status", done.status, done.err)
    found = {}
    made = json.loads(done.out)
    for check in made["checks"]:
        found.setdefault(check["id"], []).append((check["status"], check["text"], check["fix"]))
        t.check(check["status"] == "ok" or check["fix"] or check["id"] == "note",
                "what is to be done about", check)
    failed = any(row[0] == "fail" for rows in found.values() for row in rows)
    t.equal(done.status, int(failed), arguments, "status")
    return dict(found, report=made["report"])


def expect(found, name, status, words=""):
    rows = found.get(name, [])
    t.check(any(row[0] == status and words in row[1] for row in rows), name, "is not", status, words,
            rows)


def check_sound(folder):
    """All checks pass here: doctor records a loop over PyTorch's loader, or over a simulated loader where
    PyTorch is missing."""
    simple = os.path.join(folder, "python3")
    with open(simple, "w") as file:
        file.write("#!/bin/sh\nexit 77\n")
    os.chmod(simple, 0o755)
    for path, words in ((os.environ["PATH"], "of a "), (folder + ":/bin:/usr/bin", "of a simulated loader")):
        found = doctor(TMPDIR=folder, PATH=path)
        for name in ("library", "glibc", "drain", "output", "segments", "preload", "loads"):
            expect(found, name, "ok")
        expect(found, "batches", "ok", words)
        t.equal((found["report"]["schema"], found["report"]["loss"]["events"]), ("dlprof.report/3", 0))
    t.equal(os.listdir(folder), ["python3"], "left behind")
    if has_torch("python3"):
        found = doctor()
        expect(found, "batches", "ok", "of a loop over the loader of python3's PyTorch")
        t.equal((found["report"]["coverage"]["patch_points_missing"],
                 found["report"]["coverage"]["loads_share"]), ([], 1), "all was found in torch")
    else:
        t.say("no torch: its patch points were not looked for")
    text = t.run([t.DLPROF, "doctor", "-q"], env=t.environment(preload=False))
    words = " ".join(text.out.split())
    t.check(text.status == 0 and "ok library" in words and "Seen how 60 of 60 batches were loaded" in
            re.sub(r"\d+ of \d+", "60 of 60", words), "text", text.out, text.err)


def has_torch(python):
    return subprocess.run([python, "-c", "import importlib.util as u, sys; "
                           "sys.exit(not u.find_spec('torch'))"]).returncode == 0


def check_left(folder):
    """Files left by a run that was killed with its drain are named, and the advice works; a run that still
    goes on is not named."""
    for way, name in (("stores", "plain"), ("stores", "it's $HOME"), ("removes", "plain"),
                      ("removes", "it's $HOME")):
        database, made = t.run_without_drain()
        where = os.path.join(os.path.dirname(made), name)
        segments = os.path.join(where, os.path.basename(made))
        os.mkdir(where)
        os.rename(made, segments)
        os.unlink(database)
        os.unlink(database + "-segments")
        for left in ("rescued.db", "rescued.db-segments"):
            if os.path.lexists(os.path.join(folder, left)):
                os.unlink(os.path.join(folder, left))
        found = doctor("--", "true", TMPDIR=where)
        expect(found, "left", "warn", segments)
        fix = found.get("left", [("", "", "Else: . Or: ")])[0][2]
        stores, removes = fix.split("Else: ")[1].split(". Or: ")
        t.run(["sh", "-c", stores if way == "stores" else removes], cwd=folder,
              env=t.environment(preload=False, PATH=os.path.dirname(t.REPORT) + ":" +
                                os.environ["PATH"]))
        t.check(not os.path.exists(segments), way, fix)
        t.check("left" not in doctor("--", "true", TMPDIR=where), way, "said again")
        if way == "stores":
            t.equal(t.rows(os.path.join(folder, "rescued.db"), "SELECT count(*) AS n FROM process"),
                    [{"n": 1}], "rescued")
        t.equal("'" in fix, name != "plain", "quoted where it need not be, or not where it must")
    live = os.path.join(folder, "live")
    os.mkdir(live)
    program = subprocess.Popen(["sleep", "60"], env=t.environment(
        DLPROF_ACTIVATE="always", TMPDIR=live, DLPROF_OUT=os.path.join(live, "run.db")))
    while not any(name.startswith("dlprof-") for name in os.listdir(live)):
        pass
    t.check("left" not in doctor("--", "true", TMPDIR=live), "a run that goes on")
    program.kill()
    program.wait()
    t.wait_for_drain(os.path.join(live, "run.db"))


def check_place(folder):
    none = os.path.join(folder, "none")
    plain = os.path.join(folder, "plain.so")
    with open(plain, "w") as file:
        file.write("no library")
    quick = ("--", "true")
    expect(doctor("--library", none, *quick), "library", "fail", "No such file")
    expect(doctor("--library", plain, *quick), "library", "fail", "it is not a library")
    expect(doctor("-o", os.path.join(plain, "x.db"), *quick), "output", "fail", plain)
    expect(doctor("-o", os.path.join(none, "new", "x.db"), *quick), "output", "ok", folder)
    expect(doctor("-o", os.path.join(folder, "x.db"), *quick, LD_PRELOAD=sys.argv[1]), "output", "ok",
           "network file system")
    expect(doctor(*quick, DLPROF_SEGMENT_DIR=none), "segments", "fail", none)
    expect(doctor(*quick, DLPROF_DISABLE="1"), "settings", "fail", "DLPROF_DISABLE")
    expect(doctor(*quick, DLPROF_SLOW="1"), "settings", "warn", "no variable DLPROF_SLOW")
    expect(doctor(*quick, CUDA_INJECTION64_PATH="/opt/other.so"), "gpu", "warn", "/opt/other.so")
    alone = os.path.join(folder, "libdlprof.so")
    shutil.copy(t.SHIM, alone)
    expect(doctor("--library", alone, *quick), "drain", "fail", "not found")
    drain = os.path.join(folder, "dlprof-drain")
    shutil.copy(t.DRAIN, drain)
    os.chmod(drain, 0o644)
    expect(doctor("--library", alone, *quick), "drain", "fail", drain)
    os.chmod(drain, 0o755)
    expect(doctor("--library", alone, *quick), "drain", "ok", drain)


def check_gpu_users():
    """Programs that compute on a whole GPU are named; programs on MIG instances, which share no cores, are not."""
    fakes = os.path.join(t.BUILD, "tests", "fakes")

    def said(users):
        found = doctor("--", "true", LD_LIBRARY_PATH=fakes, FAKE_NVML=users)
        return [row for row in found["gpu"] if "other programs compute here" in row[1]]

    for users in (None, "", "0:41:3 1:42:0"):
        t.equal(said(users), [], users)
    rows = said("1:4242:-1 0:41:3 0:77:-1")
    t.check(len(rows) == 1 and rows[0][0] == "warn" and
            "pid 77 on GPU 0, pid 4242 on GPU 1 (as nvidia-smi counts)" in rows[0][1], rows)
    many = said(" ".join("0:{}:-1".format(pid) for pid in range(100, 120)))
    t.check(many and "pid 107 on GPU 0 (" in many[0][1], "no more than eight", many)


def check_forks():
    """Finds a sandbox like gVisor, which lacks MADV_WIPEONFORK."""
    expect(doctor("--", "true"), "forks", "ok", "the kernel tells")
    argv = t.sandboxed(["wipe=EINVAL"], [t.DLPROF, "doctor", "-q", "--", "true"], preload=False)
    done = t.run(argv, env=t.environment(preload=False))
    if "no filter" in done.err:
        t.say("no seccomp filter can be set here")
        return
    t.check("known by their pid only" in " ".join(done.out.split()), "no wipe:", done.out, done.err)


def check_command(folder):
    expect(doctor("no-such-program"), "command", "fail", "No such file")
    found = doctor("true")
    expect(found, "command", "ok", "can be preloaded")
    expect(found, "batches", "fail", "no loader was seen; the command ended with status 0")
    program = os.path.join(folder, "static")
    done = subprocess.run(["cc", "-x", "c", "-", "-static", "-o", program],
                          input=b"int main(void) { return 0; }")
    if done.returncode == 0:
        script = os.path.join(folder, "script")
        with open(script, "w") as file:
            file.write("#!{}\n".format(program))
        os.chmod(script, 0o755)
        for name in (program, script):
            expect(doctor(name), "command", "fail", "statically linked")
    found = doctor("--seconds", "1", "sleep", "60")
    expect(found, "batches", "fail", "no batch was seen in 1 s")
    expect(found, "preload", "ok")
    # `env -i` drops the environment before the program starts.
    found = doctor("--seconds", "2", "env", "-i", t.PYTHON, "-c", "import time; time.sleep(60)")
    expect(found, "preload", "fail", "LD_PRELOAD did not reach them")
    expect(found, "batches", "fail")


def check_python(folder):
    found = doctor(t.PYTHON, "-c", LOOP, TMPDIR=folder)
    expect(found, "command", "ok")
    t.check("python" not in found, "a Python whose loaders are followed", found.get("python"))
    expect(found, "preload", "ok")
    expect(found, "batches", "ok", "of the loader marks")
    expect(found, "loads", "ok")
    t.equal(os.listdir(folder), [], "left behind")
    t.check(found["report"]["coverage"]["loads_share"] > 0.9, "the report", found["report"]["coverage"])


def check_pythons(folder):
    """Programs whose loaders cannot be followed are named before they run, by their exports or by the library
    that they need."""
    program, library = os.path.join(folder, "python3"), os.path.join(folder, "libpython.so")

    def build(path, source, *options):
        return subprocess.run(["cc", "-o", path, "-x", "c", "-", "-x", "none"] + list(options), input=source).returncode

    main = b"int main(void) { return 0; }"
    for function, words in ((b"", "is older than 3.8, or hides its functions"),
                            (b"void PySys_AddAuditHook(void) {}", None),
                            (b"void PySys_AddAuditHook(void) {} void _Py_MergeZeroLocalRefcount(void) {}",
                             "runs without a global lock")):
        t.equal(build(program, main + function, "-rdynamic"), 0)
        check_python_words(program, words)
    for name, words in (("libpython3.7m.so.1.0", "is older than 3.8"), ("libpython3.11.so.1.0", None),
                        ("libpython3.13t.so.1.0", "runs without a global lock")):
        t.equal(build(library, b"int f(void) { return 0; }", "-shared", "-fPIC", "-Wl,-soname," + name), 0)
        os.replace(library, os.path.join(folder, name))
        t.equal(build(program, b"int f(void); int main(void) { return f(); }",
                      os.path.join(folder, name), "-Wl,-rpath," + folder), 0)
        check_python_words(program, words)


def check_python_words(program, words):
    found = doctor(program)
    if words:
        expect(found, "python", "warn", words)
    else:
        t.check("python" not in found, "a Python that can be followed", found.get("python"))


def check_named(folder):
    """A function that is named as a loader but is none, or is not called, is told."""
    path = os.path.join(folder, "named.py")
    with open(path, "w") as file:
        file.write("class Mine:\n    def take(self):\n        return 1\n" + LOOP.replace("10000", "70"))
    found = doctor(t.PYTHON, path, DLPROF_BATCH_FN="__main__:Mien.take")
    expect(found, "batches", "ok")
    expect(found, "batch_fn", "fail", "DLPROF_BATCH_FN=__main__:Mien.take names nothing")
    found = doctor(t.PYTHON, path, DLPROF_BATCH_FN="__main__:Mine.take")
    t.check("batch_fn" not in found, "was found", found.get("batch_fn"))
    for name in ("__main__:Mine.take", "mien:Mine.take"):
        found = doctor(t.PYTHON, "-c", "class Mine:\n def take(self): pass", DLPROF_BATCH_FN=name)
        expect(found, "batches", "fail", "what DLPROF_BATCH_FN names ({}) was never called".format(name))
        t.check("DLPROF_BATCH_FN" not in found["batches"][0][2], "advised again", found["batches"])


def main():
    t.need_shim()
    check_left(t.scratch())
    check_sound(t.scratch())
    check_place(t.scratch())
    check_gpu_users()
    check_forks()
    check_command(t.scratch())
    check_python(t.scratch())
    check_pythons(t.scratch())
    check_named(t.scratch())
    t.finish()


main()
