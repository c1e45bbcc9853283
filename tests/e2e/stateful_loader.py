# SPDX-License-Identifier: Apache-2.0
"""torchdata's own DataLoader, by the iterators and the worker of its own."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import programs  # noqa: E402
from dlprof_test import (check, databases, equal, finish, need_shim, need_torch, rows)  # noqa: E402
from loops import epochs_of  # noqa: E402


def check_loads():
    truth, database = programs.record("stateful")
    equal(epochs_of(database), [[6, 6], [6, 6], [6]], "batches")
    equal([(row["kind"], row["workers"]) for row in rows(database, "SELECT * FROM loader")],
          [("torchdata.StatefulDataLoader", workers) for workers in (0, 2, 1)], "loaders")
    loads = rows(database, "SELECT load_ns, collate_ns, samples, worker_id FROM load")
    equal(len(loads), 30, "loads")
    check(all(row["load_ns"] >= 4_000_000 and row["samples"] == 4 for row in loads), "loads", loads)
    equal(len({row["worker_id"] for row in loads}), 3, "workers")
    waited = sum(row["wait_ns"] for row in rows(database, "SELECT wait_ns FROM batch"))
    check(waited <= sum(end - begin for begin, end in truth), "waits", waited)


def check_resumed():
    """The first iterator is made before __iter__ is called; the second begins in the middle."""
    _, database = programs.record("resumed")
    equal(databases(os.path.dirname(database)), [database], "resumed, runs")
    equal(epochs_of(database), [[6, 4], [6, 4]], "resumed, batches")
    equal(rows(database, "SELECT 1 FROM batch WHERE load_ns IS NULL OR worker_id >= 2"), [],
          "resumed, loads")


def main():
    need_shim()
    need_torch()
    check_loads()
    check_resumed()
    finish()


main()
