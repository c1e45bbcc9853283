# SPDX-License-Identifier: Apache-2.0
"""More interpreters than one, and one without the global lock: no harm, and nothing invented.

usage: interpreters.py no_lock.so. Interpreters beside the main one are left alone: their batches are not
recorded, the main one's are all there. Where there is no global lock, nothing of Python is patched, and
the line at exit says that no loader was seen.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (PYTHON, SHIM, check, environment, equal, finish, need_shim,  # noqa
                         rows, run, say, scratch, skip, wait_for_drain)
import stub  # noqa: E402
from interpreter import find  # noqa: E402

BATCHES = 10


def check_others(python, when, torch):
    argv = [python, "-W", "ignore", os.path.join(HERE, "interpreters_host.py"), when, "0"]
    database, name = os.path.join(scratch(), "run.db"), "{} {}".format(python, when)
    bare = run(argv, env=environment(preload=False, TEST_STUB=torch))
    done = run(argv, env=environment(TEST_STUB=torch, DLPROF_OUT=database, DLPROF_QUIET=1))
    equal(bare.status, 7, name, "without the preload", bare.err[-500:])
    equal(done.status, 7, name, done.err[-500:])
    equal(sorted(done.out.splitlines()), sorted(bare.out.splitlines()), name)
    equal(sorted(done.err.splitlines()), sorted(bare.err.splitlines()), name, "stderr")
    wait_for_drain(database)
    equal(os.path.exists(database), when != "only", name, "a database")
    if os.path.exists(database):
        found = rows(database, "SELECT batch FROM batch ORDER BY batch")
        equal([row["batch"] for row in found], list(range(BATCHES)), name, "batches")


def check_no_lock(library, torch):
    folder = scratch()
    log, database = os.path.join(folder, "log"), os.path.join(folder, "run.db")
    plan = {"workers": 2, "load_s": 0.02, "step_s": 0.005, "batches": 20, "status": 7}
    done = run([PYTHON, os.path.join(HERE, "sleeper.py"), log, json.dumps(plan)],
               env=environment(LD_PRELOAD="{}:{}".format(SHIM, library), TEST_STUB=torch,
                               DLPROF_OUT=database))
    equal((done.status, done.err.count("\n")), (7, 1), "without the lock", done.err)
    check("no loader was seen" in done.err, "without the lock, the line at exit", done.err)
    check(not os.path.exists(database), "without the lock, a database")


def main():
    need_shim()
    torch = stub.make(scratch())
    if not torch:
        skip("no installed torch to take the DataLoader from")
    pythons = [python for version in ("3.12", "3.13", "3.14") for python in find(version)]
    for python in pythons:
        for when in ("before", "beside", "after", "only"):
            check_others(python, when, torch)
    say(len(pythons), "interpreters")
    check_no_lock(os.path.abspath(sys.argv[1]), torch)
    finish()


main()
