# SPDX-License-Identifier: Apache-2.0
"""A forked child records what it does itself: neither threads nor descriptors are its parent's.

usage: forked.py FORKED: forked.c, built.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, environment, equal, finish, need_shim, rows, run, scratch,  # noqa
                         wait_for_drain)

LOADS, READS, BYTES = 300, 20, 100	# as in forked.c


def check_child(forked, how):
    folder = scratch()
    database = os.path.join(folder, "run.db")
    with open(os.path.join(folder, "data"), "w") as data:
        data.write("0123456789" * 100)
    done = run([forked, how], cwd=folder, timeout=60, env=environment(
        DLPROF_OUT=database, DLPROF_QUIET=1, TMPDIR=folder))
    equal((done.status, done.out, done.err), (0, "child 0\n", ""), how)
    wait_for_drain(database)
    found = rows(database, "SELECT read_count, COUNT(*) AS loads FROM t_batch WHERE task > 0 "
                 "GROUP BY read_count ORDER BY read_count")
    equal([(row["read_count"], row["loads"]) for row in found], [(READS, 2 * LOADS)], how,
          "loads of the child, by what each read")
    total = rows(database, "SELECT SUM(bytes) AS bytes FROM t_total WHERE kind = 'file'")[0]
    equal(total["bytes"], (1 + 2 * LOADS * READS) * BYTES, how, "bytes of data")


def main():
    need_shim()
    for how in ("fork", "_Fork", "forkpty", "daemon"):
        check_child(os.path.abspath(sys.argv[1]), how)
    finish()


main()
