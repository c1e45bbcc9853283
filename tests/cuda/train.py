# SPDX-License-Identifier: Apache-2.0
"""dlprof's times of the GPU are right, batch by batch, for an unmodified PyTorch training script.

usage: train.py
"""
import concurrent.futures
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from gpu import (busy, check, copies, equal, finish, near, need_shim, say, scratch, skip,  # noqa
                 start, union)
import stub  # noqa: E402

PYTHON = "/usr/bin/python3"
RUNS = {
    "workers": dict(workers=2, batches=25, epochs=2, load_ms=12,
                    work="kernels=8,kernel=250,h2d=4000000"),
    "alone": dict(workers=0, batches=25, epochs=1, load_ms=6,
                  work="kernels=8,kernel=250,h2d=4000000,pinned=0,sync=4"),
    "pin": dict(workers=2, batches=25, epochs=1, load_ms=12, pin=True,
                work="kernels=8,kernel=250,prefetch=1,sync=5"),
}


def check_run(name):
    plan, folder = RUNS[name], scratch()
    torch = stub.make(folder)
    if not torch:
        skip("no installed torch to take the DataLoader from")
    done = start([PYTHON, "-W", "ignore", os.path.join(HERE, "train_host.py"), json.dumps(plan)],
                 folder=folder, TEST_STUB=torch, TEST_PIN="1")
    equal((done.status, done.misuse()), (0, []), name, "status, misuse", done.err[-2000:])
    count = plan["batches"] * plan["epochs"]
    equal(len(done.steps), count, name, "steps of the script")
    rows = done.query("SELECT * FROM batch ORDER BY begin_ns")
    equal(len(rows), count, name, "batches")
    equal(done.meta().get("clock"), "gpu", name, "clock")
    for row, step in zip(rows, done.steps):
        what = "{} step {}:".format(name, step["step"])
        check(row["load_ns"] is not None, what, "its load")
        if row["step_ns"] is None:
            continue
        end = row["begin_ns"] + row["step_ns"]
        near(row["gpu_busy_ns"], union(busy(done.ops), row["begin_ns"], end), what, "busy")
        waited = row["wait_ns"] - union(busy(done.ops), row["begin_ns"],
                                        row["begin_ns"] + row["wait_ns"])
        near(row["gpu_idle_wait_ns"], waited, what, "idle while waiting")
        near(row["h2d_ns"], union(copies(done.ops), row["begin_ns"], end), what, "h2d")
    known = sum(row["gpu_busy_ns"] is not None for row in rows)
    equal(known, count, name, "known")
    say(name, "{} batches, the GPU is known of {}".format(count, known))


def main():
    need_shim()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(check_run, RUNS))
    finish()


main()
