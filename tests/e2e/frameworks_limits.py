# SPDX-License-Identifier: Apache-2.0
"""What cannot be known of a framework is said: Keras' waits in a graph, more iterators than there is room for."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import programs  # noqa: E402
from dlprof_test import check, equal, finish, need_shim, report, rows  # noqa: E402
from loops import epochs_of  # noqa: E402


def check_crowd():
    """Every batch is recorded, and the report says that loaders were not known again."""
    _, database = programs.record("crowd")
    equal(rows(database, "SELECT COUNT(*) AS count FROM batch")[0]["count"], 400, "crowd, batches")
    check("128 iterators of TensorFlow's" in report("-v", database).out, "crowd, what is said")


def check_steps():
    """Keras' steps without their waits: no verdict, and why."""
    _, database = programs.record("steps")
    found = rows(database, "SELECT step_ns, wait_ns FROM batch")
    equal([row["wait_ns"] for row in found], [None] * len(found), "waits of steps")
    equal(len(found), 4 * 29, "steps")
    check(all(row["step_ns"] >= 2_000_000 for row in found), "steps", found[:5])
    equal([row["kind"] for row in rows(database, "SELECT kind FROM loader")], ["keras"], "kind")
    said = json.loads(report(database, "--json").out)
    equal((said["verdict"], said["stall"]["ratio"]), ("incomplete", None), "steps, verdict")
    check("eras" in report("-v", database).out, "steps, what is said")


def check_dropped():
    """What TensorFlow takes to destroy an iterator is no step, but a part of the next epoch's start
    in the thread that made it: another thread of TensorFlow's does not wait for that."""
    _, database = programs.record("tf_data_dropped")
    first, second, other = (row["setup_ns"] for row in rows(
        database, "SELECT setup_ns FROM epoch ORDER BY begin_ns"))
    check(second >= 60_000_000, "dropped, the second epoch's start", first, second)
    check(other < 50_000_000, "dropped in another thread, which begins an epoch", other)
    steps = [row["compute_ns"] for row in rows(database, "SELECT compute_ns FROM batch WHERE epoch = 0")]
    check(max(step or 0 for step in steps) < 50_000_000, "dropped, steps", steps)


def check_often():
    """An iterator that is gone leaves its place to another one."""
    _, database = programs.record("dispatcher_often")
    equal(epochs_of(database), [[1] * 150], "often, batches of each epoch")


def main():
    need_shim()
    check_often()
    check_crowd()
    check_dropped()
    check_steps()
    finish()


main()
