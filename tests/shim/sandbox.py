# SPDX-License-Identifier: Apache-2.0
"""A training is recorded whole where a sandbox or an older kernel lacks a system call that we use.

By seccomp, so that the call itself answers what it would there.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, environment, equal, finish, need_shim, need_torch, rows,  # noqa
                         run, sandboxed, scratch, skip, use_stub, wait_for_drain)

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "sleeper.py")
PLAN = json.dumps({"workers": 2, "load_s": 0.004, "step_s": 0.002, "batches": 40})

SANDBOXES = {
    "names by links": ["renameat2=EPERM"],
    "no renameat2": ["renameat2=ENOSYS"],
    "neither renameat2 nor links": ["renameat2=EPERM", "link=EPERM"],
    "no wiping of pages in forked children": ["wipe=EINVAL"],
    "blocks by fallocate": ["populate=EINVAL"],
    "blocks by writing": ["populate=EINVAL", "fallocate=EOPNOTSUPP"],
    "no locks, no pidfd": ["lock=EPERM", "pidfd=ENOSYS"],
}


def check(name, denied):
    folder = scratch()
    database = os.path.join(folder, "run.db")
    done = run(sandboxed(denied, [PYTHON, "-W", "ignore", SLEEPER, os.path.join(folder, "log"), PLAN]),
               env=environment(False, DLPROF_OUT=database, DLPROF_QUIET=1, TMPDIR=folder))
    equal((done.status, done.out, done.err[-500:]), (0, "trained 40\n", ""), name, "the training")
    wait_for_drain(database)
    if not equal(sorted(os.listdir(folder)), ["log", "run.db"], name, "left behind"):
        return
    found = rows(database, "SELECT COUNT(*) AS batches, COUNT(load_ns) AS loads FROM batch")[0]
    equal((found["batches"], found["loads"]), (40, 40), name, "batches and loads")
    equal(rows(database, "SELECT * FROM loss WHERE what = 'events'"), [], name, "lost")
    found = rows(database, "SELECT role, exit FROM process ORDER BY role")
    equal([(row["role"], row["exit"]) for row in found],
          [("main", "clean"), ("worker", "clean"), ("worker", "clean")], name, "processes")


def main():
    need_torch()
    need_shim()
    if run(sandboxed(["pidfd=ENOSYS"], ["true"]), env=environment(False)).status:
        skip("no seccomp filter can be set here")
    for name, denied in SANDBOXES.items():
        check(name, denied)
        use_stub()  # from the second one on
    finish()


main()
