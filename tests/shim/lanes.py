# SPDX-License-Identifier: Apache-2.0
"""Each load of threads that run side by side is recorded once, with its own reads and no other load's.

usage: lanes.py LANES: the program of lanes.c. Errors show only where a thread loses its core between two
instructions, so the program is run many times, some of them at once.
"""
import concurrent.futures
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (environment, equal, finish, need_shim, rows, run, scratch,  # noqa
                         wait_for_drain)

THREADS, LOADS = 6, 1500  # as in lanes.c
RUNS, AT_ONCE = 40, 4


def check_run(_):
    folder = scratch()
    database = os.path.join(folder, "run.db")
    with open(os.path.join(folder, "data"), "w") as data:
        data.write("0123456789")
    done = run([os.path.abspath(sys.argv[1])], cwd=folder, timeout=60, env=environment(
        DLPROF_OUT=database, DLPROF_QUIET=1))
    equal((done.status, done.out, done.err), (0, "loaded\n", ""), "the program")
    wait_for_drain(database)
    found = rows(database, "SELECT task, read_count FROM t_batch ORDER BY task")
    expected = {(task, task // LOADS + 1) for task in range(THREADS * LOADS)}
    loads = {(row["task"], row["read_count"]) for row in found}
    equal((len(found), sorted(loads - expected), sorted(expected - loads)),
          (len(expected), [], []), "loads and their reads")
    equal(rows(database, "SELECT * FROM loss"), [], "lost")


def main():
    need_shim()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(check_run, range(RUNS)))
    finish()


main()
