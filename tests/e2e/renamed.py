# SPDX-License-Identifier: Apache-2.0
"""A DataLoader whose patch points have other names: a blind run says so, DLPROF_BATCH_FN follows it.

usage: renamed.py. The loader is torch's own with its classes renamed; the script keeps its own clock.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, rows,  # noqa
                         run, scratch, skip, wait_for_drain)
import stub  # noqa: E402

PLAN = {"load_s": 0.02, "step_s": 0.005, "workers": 2, "batches": 30, "epochs": 2}
NAME = "torch.utils.data.dataloader:_RootIter.__next__"
WAIT_WORST_NS = 8_000_000


def train(**changes):
    folder = scratch()
    log, database = os.path.join(folder, "log.json"), os.path.join(folder, "run.db")
    made = stub.make(folder, hidden=True)
    if not made:
        skip("no installed torch to take the DataLoader from")
    done = run([PYTHON, "-W", "ignore", os.path.join(HERE, "sleeper.py"), log, json.dumps(PLAN)],
               env=environment(DLPROF_OUT=database, TEST_STUB=made, **changes))
    equal((done.status, done.out), (0, "trained 30\n"), done.err)
    with open(log) as file:
        return done, [json.loads(line) for line in file][:-1], database


def main():
    need_shim()
    done, _, database = train()
    check("no loader was seen" in done.err and "DLPROF_BATCH_FN" in done.err, "blind:", done.err)
    check(not os.path.exists(database), "a blind run leaves a database")
    _, truth, database = train(DLPROF_BATCH_FN=NAME)
    wait_for_drain(database)
    found = rows(database, "SELECT epoch, batch, wait_ns FROM batch ORDER BY epoch, batch")
    equal([(row["epoch"], row["batch"]) for row in found],
          [(line["epoch"], line["batch"]) for line in truth], "batches")
    errors = sorted(abs(row["wait_ns"] - (line["end"] - line["begin"]))
                    for row, line in zip(found, truth))
    check(errors and errors[len(errors) // 2] < WAIT_WORST_NS, "waits", errors)
    finish()


main()
