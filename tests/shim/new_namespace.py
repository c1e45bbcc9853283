# SPDX-License-Identifier: Apache-2.0
"""The first child after unshare(CLONE_NEWPID), process 1 of the namespace, is the program's: if it were
the drain or its starter, the program could start no child any more when that ends."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, report, rows,  # noqa
                         run, scratch, skip)

PROGRAM = """
import ctypes, os, sys, time
self = ctypes.CDLL(None)
if self.unshare(0x20000000):  # CLONE_NEWPID
    sys.exit(9)
def mark():
    for i in range(5):
        if hasattr(self, "dlprof_batch_begin"):
            self.dlprof_batch_begin()
            self.dlprof_batch_end(ctypes.c_int64(i))
def child(seconds):
    pid = os.fork()
    if not pid:
        os.write(1, b"child %d\\n" % os.getpid())
        time.sleep(seconds)
        os._exit(3)
    return pid
if sys.argv[1] == "before":
    mark()
first = child(1.5)
if sys.argv[1] == "between":
    mark()
time.sleep(0.5)  # the first says so first
print(os.waitpid(child(0), 0)[1], os.waitpid(first, 0)[1])
try:
    os.wait()
except ChildProcessError:
    print("no child")
"""


def main():
    need_shim()
    for when in ("before", "between"):
        folder = scratch()
        database = os.path.join(folder, "run.db")
        plain = run([PYTHON, "-c", PROGRAM, when], env=environment(False))
        if plain.status == 9:
            skip("no PID namespace may be made")
        ours = run([PYTHON, "-c", PROGRAM, when], env=environment(
            DLPROF_OUT=database, DLPROF_QUIET=1, TMPDIR=folder))
        equal((ours.status, ours.out, ours.err), (plain.status, plain.out, plain.err), when)
        equal(plain.out, "child 1\nchild 2\n768 768\nno child\n", when, "without us")
        check(report(database).status in (0, 3), when, "report")
        equal(rows(database, "SELECT COUNT(*) AS n FROM batch"), [{"n": 5}], when, "batches")
        notes = [row["text"] for row in rows(database, "SELECT text FROM note")]
        check(any("not started: children of this process are in a PID namespace" in note
                  for note in notes), when, "notes", notes)
    finish()


main()
