# SPDX-License-Identifier: Apache-2.0
"""Where dlprof cannot write, run or read, training goes on as if it were not there.

The program has the same standard output and status as without the preload, and at most one line more on
stderr, which begins with "dlprof:". Records that can be recovered later are recovered.
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (DRAIN, PYTHON, SHIM, check, databases, environment, equal,  # noqa
                         finish, need_shim, need_torch, report, rows, run, say, scratch,
                         use_stub, wait_for_drain)

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "sleeper.py")
PLAN = {"workers": 2, "load_s": 0.004, "step_s": 0.002, "batches": 40}
NOBODY = 65534


def train(name, folder, prefix=(), logs=None, **changes):
    """Runs the training and checks that dlprof changes neither its output nor its status."""
    log = os.path.join(logs or scratch(), "log.json")
    changes.setdefault("TMPDIR", folder)
    # A copy that any user may read: the checkout may lie in somebody's home.
    script = os.path.join(scratch(), "sleeper.py")
    shutil.copy(SLEEPER, script)
    os.chmod(os.path.dirname(script), 0o755)
    os.chmod(script, 0o644)
    done = run(list(prefix) + [PYTHON, "-W", "ignore", script, log, json.dumps(PLAN)],
               env=environment(**changes), cwd="/")
    equal(done.status, 0, name, "exit status", done.err[-2000:])
    equal(done.out, "trained 40\n", name, "stdout")
    lines = done.err.splitlines()
    check(len(lines) <= 1 and all(line.startswith("dlprof:") for line in lines), name, "stderr",
          lines)
    say(name, lines)
    return done


def count(database):
    return rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"]


def installed_copy(folder, drain=True):
    """Copies the library, and its drain if wanted, to a folder that any user may read; returns its path."""
    for path in (SHIM, DRAIN)[:1 + drain]:
        shutil.copy(path, folder)
    os.chmod(folder, 0o755)
    return os.path.join(folder, os.path.basename(SHIM))


def check_read_only():
    """An ordinary user runs a training in a folder of root's, where only root may write."""
    if os.getuid() != 0 or not shutil.which("setpriv"):
        say("not root, or no setpriv: the read-only folder is not tried")
        return
    shim = installed_copy(scratch())
    closed, logs = scratch(), scratch()
    os.chmod(closed, 0o755)
    os.chown(logs, NOBODY, NOBODY)
    user = ["setpriv", "--reuid={}".format(NOBODY), "--regid={}".format(NOBODY),
            "--clear-groups"]
    changes = {"LD_PRELOAD": shim, "DLPROF_OUT": os.path.join(closed, "run.db"), "TMPDIR": "/tmp",
               "HOME": "/"}
    train("read-only output folder:", closed, user, logs, **changes)
    equal(os.listdir(closed), [], "read-only output folder: left behind")
    os.remove(os.path.join(logs, "log.json"))
    changes["DLPROF_OUT"] = os.path.join(logs, "run.db")
    changes["DLPROF_SEGMENT_DIR"] = closed
    train("read-only segment folder:", closed, user, logs, **changes)
    equal(os.listdir(closed), [], "read-only segment folder: left behind")
    wait_for_drain(os.path.join(logs, "run.db"))
    os.remove(os.path.join(logs, "log.json"))
    changes["DLPROF_SEGMENT_DIR"] = None
    train("an ordinary user:", closed, user, logs, **changes)
    found = [path for path in databases(logs)]
    if equal(len(found), 1, "an ordinary user: databases"):
        wait_for_drain(found[0])
        equal(count(found[0]), 40, "an ordinary user: rows")


def check_gone_reader():
    """dlprof's line at exit raises no SIGPIPE when stderr is a pipe that nobody reads any more."""
    folder = scratch()
    program = "import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)"
    reader, writer = os.pipe()
    process = subprocess.Popen([PYTHON, "-c", program], stderr=writer, env=environment(
        DLPROF_OUT=os.path.join(folder, "run.db"), DLPROF_ACTIVATE="always"))
    os.close(reader)
    os.close(writer)
    equal(process.wait(), 0, "stderr without a reader: exit status")
    wait_for_drain(os.path.join(folder, "run.db"))


def check_odd_paths():
    for name, changes in (
            ("output folder cannot be made:", {"DLPROF_OUT": "/proc/nonexistent/run.db"}),
            ("output name is too long:", {"DLPROF_OUT": "/tmp/" + "x" * 5000}),
            ("segment folder is missing:", {"DLPROF_SEGMENT_DIR": "/nonexistent"}),
            ("segment folder is a file:", {"DLPROF_SEGMENT_DIR": "/etc/passwd"}),
            ("TMPDIR is missing:", {"TMPDIR": "/nonexistent"})):
        folder = scratch()
        changes.setdefault("DLPROF_OUT", os.path.join(folder, "run.db"))
        train(name, folder, **changes)
        for database in databases(folder):
            wait_for_drain(database)
            equal(count(database), 40, name, "rows")


def check_longest_path():
    """The name of a database has at most 1023 bytes. SQLite opens none of so many."""
    folder = scratch()
    path = folder + 4 * ("/" + "d" * 200)
    path += "/" + "r" * (1023 - len(path) - 4) + ".db"
    train("longest output name:", folder, DLPROF_OUT=path)
    wait_for_drain(path)
    equal(count(shutil.copy(path, folder)), 40, "longest output name: rows")


def mounted(options):
    """Mounts a new tmpfs and returns its folder; None: mounting is not allowed here."""
    folder = scratch()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder],
                          stderr=subprocess.DEVNULL)
    return folder if done.returncode == 0 else None


def unmount(folder):
    subprocess.run(["umount", "-l", folder])


def fill(path):
    """Writes a file that takes all space left on the disk; returns its path."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(bytes(size)):
                    pass
            except OSError:
                pass
    return path


def check_full_disk():
    disk = mounted("size=512k")
    if not disk:
        say("no mount: the full disk is not tried")
        return
    try:
        # The database can be made but not written: its records stay in the rings until there is room.
        elsewhere, database = scratch(), os.path.join(disk, "run.db")
        filler = fill(os.path.join(disk, "filler"))
        train("full disk:", elsewhere, DLPROF_OUT=database)
        os.remove(filler)
        done = report(database)
        check(done.status in (0, 3), "full disk: dlprof-report", done.status, done.err)
        wait_for_drain(database)
        equal(count(database), 40, "full disk: rows recovered")
        equal(sorted(os.listdir(disk)), ["run.db"], "full disk: left beside the database")
        equal(os.listdir(elsewhere), [], "full disk: left of the segments")

        # The disk that is to hold the segments is full.
        filler = fill(os.path.join(disk, "filler"))
        out = os.path.join(scratch(), "run.db")
        train("full segment folder:", disk, DLPROF_OUT=out, DLPROF_SEGMENT_DIR=disk)
        equal(sorted(os.listdir(disk)), ["filler", "run.db"], "full segment folder: left behind")
        os.remove(filler)

        # $TMPDIR is full, and DLPROF_SEGMENT_DIR is not set: dlprof finds another place for the segments. The
        # list of `dlprof run` has room for a part of an entry, which must not stay in it.
        listed = os.path.join(disk, "list")
        with open(listed, "w") as file:
            file.write("x" * 4056)
        filler = fill(os.path.join(disk, "filler"))
        train("full TMPDIR:", disk, DLPROF_OUT=out, DLPROF_RUNS=listed)
        equal(os.path.getsize(listed), 4056, "full TMPDIR: a list with a part of an entry")
        wait_for_drain(out)
        equal(count(out), 40, "full TMPDIR: rows")
    finally:
        unmount(disk)


def check_read_only_disk():
    """The database and the segments are to lie on a read-only file system, where not even root may write."""
    disk = mounted("ro")
    if not disk:
        say("no mount: the read-only file system is not tried")
        return
    try:
        train("read-only file system:", disk, DLPROF_OUT=os.path.join(disk, "run.db"),
              DLPROF_SEGMENT_DIR=disk)
    finally:
        unmount(disk)


# Limits its address space, or its private memory, to what it has now and 300 kB: dlprof needs more.
TIGHT = """
import ctypes, os, re, resource, sys
shim = ctypes.CDLL(None)
with open("/proc/self/status") as file:
    used = int(re.search(sys.argv[2] + ":\\s+(\\d+) kB", file.read())[1])
resource.setrlimit(getattr(resource, sys.argv[1]), (used * 1024 + 300000,) * 2)
for i in range(9):
    shim.dlprof_batch_begin()
    shim.dlprof_batch_end(ctypes.c_int64(i))
print(len(os.read(os.open("data", os.O_RDONLY), 99)))
"""


def check_memory():
    for limit, used in (("RLIMIT_AS", "VmSize"), ("RLIMIT_DATA", "VmData")):
        folder = scratch()
        with open(os.path.join(folder, "data"), "w") as data:
            data.write("0123456789")
        done = run([PYTHON, "-c", TIGHT, limit, used], cwd=folder, env=environment(
            TMPDIR=folder, DLPROF_OUT=os.path.join(folder, "run.db")))
        equal((done.status, done.out), (0, "10\n"), limit, done.err)
        check(done.err.startswith("dlprof: nothing was recorded") and done.err.count("\n") == 1,
              limit, "stderr", done.err)
        equal(os.listdir(folder), ["data"], limit, "left behind")
    # A program that records nothing starts where the same one starts without the library.
    for preload in (False, True):
        done = run(["sh", "-c", "ulimit -d 1024; exec true"], env=environment(preload))
        equal((done.status, done.err), (0, ""), "ulimit -d 1024, preload:", preload)


def check_limits():
    """A limit to the size of files (ulimit -f) does not end the program by SIGXFSZ. 64 blocks hold no segment."""
    for blocks in (0, 64, 8192):
        folder = scratch()
        limit = ["sh", "-c", 'ulimit -f {}; exec "$@"'.format(blocks), "sh"]
        name = "ulimit -f {}:".format(blocks)
        if blocks == 0:  # the log of the script cannot be written either
            done = run(limit + [PYTHON, "-c", "import torch.utils.data as d; "
                                "print(sum(x[0] for x in d.DataLoader([1, 2, 3], collate_fn=list)))"],
                       env=environment(DLPROF_OUT=os.path.join(folder, "run.db"),
                                       TMPDIR=folder, DLPROF_QUIET=1))
            equal((done.status, done.out, done.err), (0, "6\n", ""), name)
        else:
            train(name, folder, limit, DLPROF_OUT=os.path.join(folder, "run.db"))
        for database in databases(folder):
            wait_for_drain(database)
    # Python ignores SIGXFSZ; cat does not.
    folder = scratch()
    done = run(["sh", "-c", "ulimit -f 64; exec cat /etc/passwd"],
               env=environment(DLPROF_OUT=os.path.join(folder, "run.db"), TMPDIR=folder,
                               DLPROF_QUIET=1, DLPROF_ACTIVATE="always"))
    with open("/etc/passwd") as file:
        equal((done.status, done.out, done.err), (0, file.read(), ""), "cat, ulimit -f 64:")
    # Few descriptors and little address space: PyTorch itself needs more of both than dlprof does.
    folder = scratch()
    train("ulimit -n 40:", folder, ["sh", "-c", 'ulimit -n 40; exec "$@"', "sh"],
          DLPROF_OUT=os.path.join(folder, "run.db"))
    wait_for_drain(os.path.join(folder, "run.db"))
    equal(count(os.path.join(folder, "run.db")), 40, "ulimit -n 40: rows")


def check_without_drain():
    folder, database = scratch(), os.path.join(scratch(), "run.db")
    shim = installed_copy(scratch(), drain=False)
    train("no dlprof-drain:", folder, LD_PRELOAD=shim, DLPROF_OUT=database)
    done = report(database)
    check(done.status in (0, 3), "no dlprof-drain: dlprof-report", done.status, done.err)
    equal(count(database), 40, "no dlprof-drain: rows recovered")
    equal(os.listdir(folder), [], "no dlprof-drain: left of the segments")


def check_linked():
    """A library preloaded by a link starts the drain beside itself, and not one beside the link."""
    folder, database = scratch(), os.path.join(scratch(), "run.db")
    mark = os.path.join(folder, "started")
    shim = installed_copy(scratch())
    link = installed_copy(folder, drain=False)
    os.remove(link)
    os.symlink(shim, link)
    other = os.path.join(folder, "dlprof-drain")
    with open(other, "w") as file:
        file.write("#!/bin/sh\ntouch {}\n".format(mark))
    os.chmod(other, 0o755)
    train("by a link:", scratch(), LD_PRELOAD=link, DLPROF_OUT=database)
    wait_for_drain(database)
    check(not os.path.exists(mark), "by a link: another drain was started")
    equal(count(database), 40, "by a link: rows")


def check_group():
    """The drain makes a process group, but no session: the kernel may give a new session no core for
    seconds while the training uses all. It does so after exec(), until which the training waits."""
    folder = scratch()
    log, database = os.path.join(folder, "strace"), os.path.join(folder, "run.db")
    done = run(["strace", "-f", "-o", log, "-e", "trace=execve,setsid,setpgid", "-E", "LD_PRELOAD=" + SHIM,
                PYTHON, "-c", "pass"],
               env=environment(False, DLPROF_OUT=database, DLPROF_ACTIVATE="always",
                               DLPROF_QUIET=1))
    if done.status:
        say("strace may not trace here, or is not there")
        return
    wait_for_drain(database)
    with open(log) as file:
        calls = [line.split(None, 1) for line in file
                 if any(name in line for name in ("execve(", "setsid(", "setpgid("))]
    makers = [pid for pid, call in calls if call.startswith(("setsid(", "setpgid("))]
    check(len(makers) == 1, "one group is made", calls)
    mine = [call.split("(")[0] for pid, call in calls if pid in makers]
    equal(mine, ["execve", "setpgid"], "what the drain does first", calls)


def main():
    need_shim()
    need_torch()
    check_read_only()
    use_stub()
    check_gone_reader()
    check_odd_paths()
    check_longest_path()
    check_full_disk()
    check_read_only_disk()
    check_memory()
    check_limits()
    check_without_drain()
    check_linked()
    check_group()
    finish()


main()
