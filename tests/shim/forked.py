# SPDX-License-Identifier: Apache-2.0
"""A forked child records only what it does itself, and takes no thread or descriptor for its parent's.

usage: forked.py FORKED: the program of forked.c.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, environment, equal, finish, need_shim, rows, run, scratch,  # noqa
                         wait_for_drain)

LOADS, READS, BYTES = 300, 20, 100	# as in forked.c


def file_bytes(database):
    return rows(database, "SELECT SUM(bytes) AS bytes FROM t_total WHERE kind = 'file'")[0]["bytes"]


def check_child(forked, how):
    folder = scratch()
    database = os.path.join(folder, "run.db")
    with open(os.path.join(folder, "data"), "w") as data:
        data.write("0123456789" * 100)
    done = run([forked, how], cwd=folder, timeout=60, env=environment(
        DLPROF_OUT=database, DLPROF_QUIET=1, TMPDIR=folder))
    equal((done.status, done.out, done.err), (0, "child 0\n", ""), how)
    wait_for_drain(database)
    # The database of a child that began to record when its parent's run was over.
    own = os.path.join(folder, "run-2.db")
    check(how != "orphan" or os.path.exists(own), how, "no run of its own")
    if how in ("daemon", "orphan") and os.path.exists(own):
        wait_for_drain(own)
        equal(file_bytes(database), BYTES, how, "bytes of data of the parent")
        database, parents = own, 0
    else:
        parents = BYTES
    found = rows(database, "SELECT read_count, COUNT(*) AS loads FROM t_batch WHERE task > 0 "
                 "GROUP BY read_count ORDER BY read_count")
    equal([(row["read_count"], row["loads"]) for row in found], [(READS, 2 * LOADS)], how,
          "loads of the child, by what each read")
    equal(file_bytes(database), parents + 2 * LOADS * READS * BYTES, how, "bytes of data")


def main():
    need_shim()
    for how in ("fork", "_Fork", "forkpty", "daemon", "orphan"):
        check_child(os.path.abspath(sys.argv[1]), how)
    finish()


main()
