# SPDX-License-Identifier: Apache-2.0
"""examples/train.py prints the same losses, to the last bit, with and without the preload."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, ROOT, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, report, rows, run, say, scratch, wait_for_drain)

IMAGES = 256
EPOCHS = 2


def example(name):
    return os.path.join(ROOT, "examples", name)


def train(folder, workers, database=None):
    done = run([PYTHON, example("train.py"), "--data", folder, "--workers", str(workers),
                "--epochs", str(EPOCHS)],
               env=environment(bool(database), DLPROF_OUT=database))
    equal(done.status, 0, "exit status", done.err[-2000:])
    return done


def check_rows(database):
    """Real image decoding: what the loads did must be there and add up."""
    loads = rows(database, "SELECT * FROM load ORDER BY epoch, batch")
    equal(len(loads), EPOCHS * IMAGES // 32, "loads")
    for load in loads:
        name = "epoch {epoch} batch {batch}:".format(**load)
        equal(load["open_count"], 32, name, "files opened")
        check(load["read_bytes"] > 32 * 2000, name, "bytes read", load["read_bytes"])
        own = sum(load[part] or 0 for part in ("open_ns", "read_ns", "decode_ns", "collate_ns",
                                               "other_ns"))
        equal(own, load["load_ns"], name, "own times add up")
        check((load["cpu_ns"] or 0) > load["load_ns"] / 100, name, "cpu time", load["cpu_ns"])


def main():
    need_torch()
    need_shim()
    folder = scratch()
    equal(run([PYTHON, example("make_images.py"), folder, "--count", str(IMAGES)]).status, 0,
          "make_images.py")
    for workers in (0, 2):
        database = os.path.join(scratch(), "run.db")
        plain, ours = train(folder, workers), train(folder, workers, database)
        equal(ours.out, plain.out, workers, "workers: the losses")
        equal(len(plain.out.splitlines()), EPOCHS, "epochs printed")
        wait_for_drain(database)
        check_rows(database)
        done = report(database)
        check(done.status in (0, 3) and done.out, "dlprof-report", done.status, done.err)
        say(workers, "workers:", ours.out.split()[-1])
    finish()


main()
