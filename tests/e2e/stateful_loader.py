# SPDX-License-Identifier: Apache-2.0
"""torchdata's own DataLoader, by the iterators and the worker of its own; and resuming."""
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


def check_skipped():
    """Batches that accelerate throws away to resume are no batches, and a part of the first wait."""
    truth, database = programs.record("skipped")
    equal(epochs_of(database), [[6, 2], [6, 2], [2]], "skipped, batches")
    equal(rows(database, "SELECT 1 FROM batch WHERE batch < 2 AND load_ns IS NULL"), [],
          "skipped, loads")
    for loader, begin in ("2", 6), ("0", 14):
        waited = rows(database, "SELECT SUM(wait_ns) + setup_ns AS ns FROM batch JOIN epoch USING "
                      "(loader_id, epoch) JOIN loader USING (loader_id) WHERE epoch = 1 AND "
                      "workers = " + loader)[0]["ns"]
        own = sum(end - begin for begin, end in truth[begin:begin + 2])
        check(abs(waited - own) <= 0.1 * own, "skipped, waits", loader, waited, own)
    notes = [row["text"] for row in rows(database, "SELECT text FROM note WHERE level = 'warning'")]
    check(len(notes) == 1 and notes[0].startswith("2 batches were loaded and thrown away to resume"
                                                  ", in 1 s: "), "skipped, notes", notes)


def main():
    need_shim()
    need_torch()
    check_loads()
    check_resumed()
    check_skipped()
    finish()


main()
