# SPDX-License-Identifier: Apache-2.0
"""dlprof runs and loads no other user's file that lies near its own, and names each file that it refuses."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

NOBODY = 65534
HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reaper_host.py")
PLANTED = "#!/bin/sh\ntouch {}\n"
PLANTED_LIBRARY = """
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) {{ close(open("{}", O_CREAT, 0644)); }}
"""


def way():
    """Returns the relative path from the installed library's folder to the drain's folder."""
    if t.PREFIX:
        return os.path.relpath(os.path.dirname(t.DRAIN), os.path.dirname(t.SHIM))
    with open(os.path.join(t.BUILD, "include", "dlprof", "place.h")) as file:
        return re.search(r'PLACE_DRAIN_FOLDER "(.*)"', file.read()).group(1)


def copy(folder, *paths, mode=0o755):
    """Copies dlprof's files into one folder, as in a relocated installation; returns the library's path."""
    os.makedirs(folder, exist_ok=True)
    for path in paths or (t.SHIM, t.DRAIN, t.DLPROF, t.REPORT):
        target = os.path.join(folder, os.path.basename(path))
        shutil.copy(path, target)
        os.chmod(target, mode)
    return os.path.join(folder, os.path.basename(t.SHIM))


def record(name, library, batches=5, prefix=()):
    """Records five batches; returns whether the drain ran, and the database's notes on it."""
    folder = t.scratch()
    os.chmod(folder, 0o777)
    database = os.path.join(folder, "run.db")
    # A copy that any user may read: the checkout may lie in somebody's home.
    host = shutil.copy(HOST, folder)
    os.chmod(host, 0o644)
    done = t.run(list(prefix) + [t.PYTHON, host, "plain", "main"], cwd=folder, env=t.environment(
        LD_PRELOAD=library, DLPROF_OUT=database, DLPROF_QUIET=1, TMPDIR=folder, HOME="/"))
    t.equal((done.status, done.out, done.err), (0, "", ""), name)
    t.wait_for_drain(database)
    stored = os.path.getsize(database) > 0
    t.check(t.report(database).status in (0, 3), name, "report")
    t.equal(t.rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"], batches, name, "batches")
    notes = [row["text"] for row in t.rows(database, "SELECT text FROM note")]
    return stored, [note for note in notes if "dlprof-drain" in note]


def runs(name, library, **keywords):
    t.equal(record(name, library, **keywords), (True, []), name)


def refused(name, library, words):
    stored, notes = record(name, library)
    t.check(not stored, name, "a drain ran")
    t.check(len(notes) == 1 and "dlprof-drain was not started: " in notes[0] and words in notes[0],
            name, "the note", notes, "expected", words)


def plant(path, text):
    """Writes an executable file as another user."""
    program = "import os, sys; os.makedirs(os.path.dirname(sys.argv[1]), exist_ok=True);" \
              "open(sys.argv[1], 'wb').write(sys.stdin.buffer.read()); os.chmod(sys.argv[1], 0o755)"
    subprocess.run(["setpriv", "--reuid={}".format(NOBODY), "--regid={}".format(NOBODY),
                    "--clear-groups", "/usr/bin/python3", "-c", program, path], input=text, check=True)


def check_beside(ours, words):
    """Tries the installation `ours`: whole, without drain (`words`: the note on that), and without library."""
    shim, launcher = copy(ours), os.path.join(ours, "dlprof")
    runs("planted beside " + ours, shim)
    done = t.run([launcher, "run", "true"], env=t.environment(preload=False))
    t.equal((done.status, done.err), (0, ""), "dlprof run in", ours)
    os.remove(os.path.join(ours, "dlprof-drain"))
    if words:
        refused("planted where it would be installed", shim, words)
    else:
        t.equal(record("no drain in " + ours, shim)[0], False, "a drain ran")
    os.remove(shim)
    done = t.run([launcher, "run", "true"], env=t.environment(preload=False))
    t.check(done.status == 2 and "cannot preload" in done.err, "no library in", ours, done.err)


# A program of root's that has another user's effective user or group when it begins to record.
ACTS = """
import ctypes, os
os.set{}({})
marks = ctypes.CDLL(None)
for i in range(5):
    marks.dlprof_batch_begin(), marks.dlprof_batch_end(ctypes.c_int64(i))
"""


def check_acting(deep, mark):
    """Such a program starts no drain: another user's file could run with rights that it can take back."""
    shim, user = copy(deep, t.SHIM), ["setpriv", "--reuid={}".format(NOBODY), "--clear-groups"]
    for what in "euid", "egid":
        folder = t.scratch()
        os.chmod(folder, 0o777)
        database, log = os.path.join(folder, "run.db"), os.path.join(folder, "log")
        done = t.run([t.PYTHON, "-c", ACTS.format(what, NOBODY)], cwd=folder, env=t.environment(
            LD_PRELOAD=shim, DLPROF_OUT=database, DLPROF_QUIET=1, TMPDIR=folder, DLPROF_LOG=log))
        t.equal((done.status, done.err), (0, ""), "acting by", what)
        t.check(not os.path.exists(mark), "a program of the other user was run", what)
        t.run((user if what == "euid" else []) + [t.REPORT, database], env=t.environment(False))
        t.equal(t.rows(database, "SELECT COUNT(*) AS n FROM batch"), [{"n": 5}], what, "batches")
        notes = [row["text"] for row in t.rows(database, "SELECT text FROM note")]
        with open(log) as file:
            t.check(all(any("was not started: the process's real, effective and saved user or group"
                            in line for line in lines) for lines in (notes, file)), what, notes)


def check_planted():
    """Another user has put files beside an installation, in a folder where all may write, as on a scratch disk."""
    if os.getuid() != 0 or not shutil.which("setpriv"):
        t.say("not root, or no setpriv: another user's programs are not tried")
        return
    base = t.scratch()
    shared, mark = os.path.join(base, "shared"), os.path.join(base, "mark", "ran")
    for folder, mode in ((base, 0o755), (shared, 0o1777), (os.path.dirname(mark), 0o777)):
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, mode)
    library = os.path.join(base, "planted.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], check=True,
                   input=PLANTED_LIBRARY.format(mark).encode())
    with open(library, "rb") as file:
        library = file.read()
    program = PLANTED.format(mark).encode()
    for place in ("analyzer/dlprof-drain", "libexec/dlprof/dlprof-drain", "dlprof-drain",
                  "dlprof/dlprof-drain", "analyzer/dlprof-report", "dlprof-report"):
        plant(os.path.join(shared, place), program)
    for place in ("shim", "lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"):
        plant(os.path.join(shared, place, "libdlprof.so"), library)
    plant(os.path.join(shared, "dlprof.built"), b"analyzer\n")
    # One installation lies beside the planted files, and one so deep that way() leads from it to the
    # shared folder.
    deep = os.path.join(shared, "bob", *["x"] * (way().split("/").count("..") - 1))
    check_beside(os.path.join(shared, "alice"), None)
    check_beside(deep, "'{}' belongs to another user".format(os.path.join(shared, "libexec")))
    check_acting(deep, mark)
    t.check(not os.path.exists(mark), "another user's program was run or loaded")


def check_modes():
    folder = t.scratch()
    shim, drain = copy(folder), os.path.join(folder, "dlprof-drain")
    runs("one folder", shim)
    os.chmod(drain, 0o757)
    refused("writable by others", shim, "'{}' is writable by others".format(drain))
    os.chmod(drain, 0o775)
    refused("writable by its group", shim, "'{}' is writable by its group".format(drain))
    # Where the umask is 002, each user has a group of its own, and all its files are writable by that.
    os.chmod(shim, 0o775)
    runs("all is writable by the group", shim)
    os.chmod(shim, 0o755)
    os.chmod(folder, 0o775)
    runs("the folder is writable by the group", shim)
    os.chmod(drain, 0o755)
    os.rename(drain, drain + "-real")
    os.symlink(drain + "-real", drain)
    refused("a link", shim, "'{}' is a link".format(drain))
    os.remove(drain)
    refused("none", shim, "it was not found")
    os.rename(drain + "-real", drain)
    os.chmod(drain, 0o644)
    refused("not executable", shim, "'{}' may not be executed".format(drain))


def check_link():
    """The library preloaded by a link starts the drain beside itself, and not the one beside the link."""
    folder, others = t.scratch(), t.scratch()
    link = os.path.join(others, "libdlprof.so")
    os.symlink(copy(folder), link)
    with open(os.path.join(others, "dlprof-drain"), "w") as file:
        file.write("#!/bin/sh\nfalse\n")
    os.chmod(file.name, 0o755)
    for _ in range(12):
        runs("by a link", link)


def check_relative():
    """The library's path is relative to a folder that the program leaves before it records."""
    folder = t.scratch()
    copy(folder)
    database = os.path.join(folder, "run.db")
    program = "import ctypes, os\nos.chdir('/')\nmarks = ctypes.CDLL(None)\nfor i in range(5):\n" \
              "    marks.dlprof_batch_begin(), marks.dlprof_batch_end(ctypes.c_int64(i))\n"
    done = t.run([t.PYTHON, "-c", program], cwd=folder, env=t.environment(
        LD_PRELOAD="./" + os.path.basename(t.SHIM), DLPROF_OUT=database, DLPROF_QUIET=1, TMPDIR=folder))
    t.equal((done.status, done.err), (0, ""), "a relative path")
    t.wait_for_drain(database)
    t.check(os.path.getsize(database) > 0, "a relative path: no drain ran")
    t.equal(t.rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"], 5, "a relative path", "batches")


def check_built():
    """dlprof.built leads to a build's drain, unless other users may write it or the drain's folder."""
    folder = t.scratch()
    shim = copy(os.path.join(folder, "one"), t.SHIM)
    drain = os.path.join(folder, "other", "dlprof-drain")
    copy(os.path.dirname(drain), t.DRAIN)
    built = os.path.join(folder, "one", "dlprof.built")
    with open(built, "w") as file:
        file.write("../other\n")
    runs("built elsewhere", shim)
    os.chmod(built, 0o666)
    refused("who is sent by anybody", shim, "'{}' is writable by others".format(built))
    os.chmod(built, 0o644)
    os.chmod(os.path.dirname(drain), 0o1777)
    refused("a folder for all", shim,
            "'{}' is writable by others".format(os.path.dirname(drain)))


def check_launcher():
    folder = t.scratch()
    shim, launcher = copy(folder), os.path.join(folder, "dlprof")
    drain, report = (os.path.join(folder, name) for name in ("dlprof-drain", "dlprof-report"))
    os.chmod(drain, 0o757)
    done = t.run([launcher, "doctor", "--json", "-q", "--", "true"], env=t.environment(preload=False))
    found = [row for row in json.loads(done.out)["checks"] if row["id"] == "drain"]
    t.check(len(found) == 1 and found[0]["status"] == "fail" and found[0]["fix"] and
            "'{}' is writable by others".format(drain) in found[0]["text"], "doctor", found)
    os.chmod(drain, 0o755)
    os.chmod(report, 0o757)
    database = os.path.join(t.scratch(), "demo.db")
    done = t.run([launcher, "demo", "-o", database, "balanced"], env=t.environment(preload=False))
    if "there is no pattern" in done.err:
        t.check(False, "the demo's pattern is another by now", done.err)
    t.check(done.status == 2 and "'{}' is not run, since it is writable by others".format(report)
            in done.err, "demo", done.status, done.err)
    os.chmod(shim, 0o757)
    done = t.run([launcher, "run", "true"], env=t.environment(preload=False))
    t.check(done.status == 2 and "'{}': is writable by others".format(shim) in done.err,
            "run with a library for all", done.status, done.err)


def check_own_user():
    """An ordinary user can use an installation of root's, and its own."""
    if os.getuid() != 0 or not shutil.which("setpriv"):
        return
    user = ["setpriv", "--reuid={}".format(NOBODY), "--regid={}".format(NOBODY), "--clear-groups"]
    folder = t.scratch()
    os.chmod(folder, 0o755)
    shim = copy(os.path.join(folder, "roots"))
    runs("root's", shim, prefix=user)
    mine = copy(os.path.join(folder, "mine"))
    for name in ("", "libdlprof.so", "dlprof-drain"):
        os.chown(os.path.join(folder, "mine", name), NOBODY, NOBODY)
        os.chmod(os.path.join(folder, "mine", name), 0o775)
    runs("one's own", mine, prefix=user)
    # root preloads a library of another user, and so runs that user's code already.
    runs("another's, by root", mine)


def main():
    t.need_shim()
    check_modes()
    check_link()
    check_relative()
    check_built()
    check_launcher()
    check_own_user()
    check_planted()
    t.finish()


main()
