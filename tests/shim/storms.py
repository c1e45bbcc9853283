# SPDX-License-Identifier: Apache-2.0
"""Of thousands of children of a process whose threads record, none hangs or writes into the parent's rings,
and the parent keeps its descriptors.

usage: storms.py STORMS: the program of storms.c. TEST_STORM: number of children in each of two runs; 1000
if not set.
"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, rows,  # noqa
                         run, sandboxed, say, scratch, wait_for_drain)

COUNT = int(os.environ.get("TEST_STORM", "1000"))

# The file has no name any more: if the shim forgot the descriptor the kernel could not name the file again.
SUBPROCESS = """
import os, subprocess
fd = os.open("unlinked-data", os.O_RDONLY)
os.pread(fd, 10, 0)
os.unlink("unlinked-data")
for options in ({}, {"close_fds": False}, {"cwd": "/"}, {"start_new_session": True},
                {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}, {"pass_fds": (fd,)},
                {"preexec_fn": lambda: None}):
    assert subprocess.run(["/bin/sh", "-c", "exit 3"], **options).returncode == 3
    assert len(os.pread(fd, 10, 0)) == 10
    assert os.path.basename(os.readlink("/proc/self/fd/%d" % fd)) == "unlinked-data (deleted)"
pid = os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_CLOSE, fd)])
assert os.waitpid(pid, 0)[1] == 0
assert len(os.pread(fd, 10, 0)) == 10
print(os.getpid())
"""
SUBPROCESS_READS = 9


def folder_with_data():
    folder = scratch()
    for name in ("thread-data", "child-data", "unlinked-data"):
        with open(os.path.join(folder, name), "w") as data:
            data.write("0123456789" * 100)
    return folder


def check_storm(storms, name, pause_us, count, detail, denied=()):
    argv = sandboxed(denied, [storms, str(count), str(pause_us)])
    # 20 children will do for the comparison: the text is the same for any number of them.
    plain = run(sandboxed(denied, [storms, "20", str(pause_us)], preload=False), env=environment(False), cwd=folder_with_data())
    folder = folder_with_data()
    database = os.path.join(folder, "run.db")
    done = run(argv, cwd=folder, timeout=900, env=environment(
        not denied, DLPROF_ACTIVATE="always", DLPROF_DETAIL=detail, DLPROF_OUT=database, DLPROF_QUIET=1,
        TMPDIR=folder))
    equal((done.status, done.out, done.err), (plain.status, plain.out, plain.err), name)
    wait_for_drain(database, 120)
    equal(sorted(os.listdir(folder)), ["child-data", "run.db", "thread-data", "unlinked-data"],
          name, "left behind")
    found = rows(database, "SELECT pid, ppid FROM process")
    roots = [row["pid"] for row in found
             if row["ppid"] not in [other["pid"] for other in found]]
    if not equal(len(roots), 1, name, "processes that are no child of another"):
        return
    # Children that called exec() joined the run; children that were only forked did not.
    equal(len(found), 1 + count // 10, name, "processes in the database")
    say(name, len(found), "processes,", rows(database, "SELECT * FROM loss"))
    if detail != "all":
        return
    parents = rows(database, "SELECT what FROM slow WHERE pid = ?", roots[0])
    check(any("thread-data" in row["what"] for row in parents), name, "the threads were recorded")
    for trace, what in (("child-data", "records of children in their parent's rings"),
                        ("readv", "pipes taken for files that a vfork child had opened")):
        found = [row["what"] for row in parents if trace in row["what"]]
        equal(found[:3], [], name, len(found), what)


def pythons():
    yield PYTHON
    root = os.environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    for path in sorted(glob.glob(os.path.join(root, "versions", "3.*", "bin", "python3"))):
        if re.search(r"/3\.(1[1-9]|[2-9]\d)\.", path):
            yield path


def check_subprocess(python):
    """Uses subprocess, which calls vfork() in Python 3.11 and 3.12, and from 3.13 on posix_spawn() if it can."""
    folder = folder_with_data()
    database = os.path.join(folder, "run.db")
    done = run([python, "-c", SUBPROCESS], cwd=folder, env=environment(
        DLPROF_ACTIVATE="always", DLPROF_DETAIL="all", DLPROF_OUT=database, DLPROF_QUIET=1))
    if not equal(done.status, 0, python, "exit status", done.err):
        return
    wait_for_drain(database)
    reads = rows(database, "SELECT what FROM slow WHERE pid = ? AND class = 'read' "
                 "AND what LIKE 'pread%'", int(done.out))
    equal(len(reads), SUBPROCESS_READS, python, "reads of the parent's file", reads)


def main():
    need_shim()
    storms = os.path.abspath(sys.argv[1])
    for python in pythons():
        check_subprocess(python)
    # Without a pause a thread is nearly always inside a wrapper when its process forks.
    check_storm(storms, "{} children of busy threads:".format(COUNT), 0, COUNT, "slow")
    check_storm(storms, "records of {} children:".format(COUNT), 2000, COUNT, "all")
    # The same with a kernel that does not know MADV_WIPEONFORK.
    check_storm(storms, "{} children, no wipe:".format(COUNT // 5), 0, COUNT // 5, "slow",
                ["wipe=EINVAL"])
    check_storm(storms, "records of {} children, no wipe:".format(COUNT // 5), 2000, COUNT // 5,
                "all", ["wipe=EINVAL"])
    finish()


main()
