# SPDX-License-Identifier: Apache-2.0
"""Loads of Gluon's and PaddlePaddle's loaders: each batch has its own, whoever made it and in whatever epoch.

A load must lie around all that the dataset says of the batch's samples, in the process that loaded them.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import fakes  # noqa: E402
import programs  # noqa: E402
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, report, rows, run, say, scratch,  # noqa
                         wait_for_drain)

# Batches of each epoch, workers, the kind, processes that load.
CASES = {
    "gluon": ([12] * 3, 2, "mxnet.gluon", 2),
    "gluon_threads": ([12] * 3, 2, "mxnet.gluon (threads)", 1),
    "gluon_alone": ([12] * 3, 0, "mxnet.gluon", 1),
    "gluon_late": ([12] * 3, 2, "mxnet.gluon", 2),
    "gluon_reload": ([12] * 3, 2, "mxnet.gluon", 2),
    "gluon_left": ([5, 5, 12], 2, "mxnet.gluon", 2),
    "gluon_twice": ([12, 12], 2, "mxnet.gluon", 2),
    "paddle": ([12, 5, 12], 2, "paddle.io", 6),
    "paddle_alone": ([12, 5, 12], 1, "paddle.io", 1),
    "paddle_stream_alone": ([12, 5, 12], 1, "paddle.io (iterable)", 1),
    "paddle_persistent": ([12, 5, 12], 2, "paddle.io", 2),
    "paddle_stream": ([20, 5, 20], 2, "paddle.io (iterable)", 6),
    "paddle_stream_persistent": ([20, 5, 20], 2, "paddle.io (iterable)", 2),
}
FOREIGN = {"gluon": ("prefetch_factor", "in_order", "persistent_workers", "collate_fn", "worker_init_fn", "torch"),
           "paddle": ("in_order", "torch")}


def record(case):
    database, packages = os.path.join(scratch(), "run.db"), scratch()
    fakes.write(packages)
    command = [PYTHON, "-B", programs.path_of("loads"), case]

    def kept(out):
        return [line for line in out.splitlines() if line.startswith("BATCH")]
    plain = run(command, env=environment(False, PYTHONPATH=packages), cwd=packages)
    done = run(command, cwd=packages, env=environment(DLPROF_OUT=database, DLPROF_QUIET=1, PYTHONPATH=packages))
    equal((done.status, kept(done.out), done.err), (plain.status, kept(plain.out), plain.err), case, "output")
    wait_for_drain(database)
    samples = {}
    for line in done.out.splitlines():
        if line.startswith("SAMPLE"):
            index, *stamp = map(int, line.split()[1:])
            samples.setdefault(index, []).append(stamp)
    return database, samples, [[int(word) for word in line.split()[1:]] for line in kept(done.out)]


def compare(case):
    epochs, workers, kind, processes = CASES[case]
    database, samples, batches = record(case)
    found = rows(database, "SELECT * FROM loader")
    equal({(row["kind"], row["workers"], row["in_order"]) for row in found}, {(kind, workers, 1)}, case, "loader")
    found = rows(database, "SELECT loader_id, batch.epoch, batch.batch, batch.begin_ns, batch.wait_ns, batch.worker_id,"
                           " load.pid, load.begin_ns AS load_begin_ns, load.load_ns, load.samples, load.collate_ns"
                           " FROM batch LEFT JOIN load USING (loader_id, epoch, batch) ORDER BY 1, 2, 3")
    counts = {}
    for row in found:
        epoch = row["loader_id"], row["epoch"]
        counts[epoch] = counts.get(epoch, 0) + 1
    equal(list(counts.values()), epochs, case, "batches")
    first = [numbers[column] for column in range(len(batches[0])) for numbers in batches]
    joined = 0
    for row, index in zip(found, first):
        if row["load_ns"] is None:
            continue
        begin, end = row["load_begin_ns"], row["load_begin_ns"] + row["load_ns"]
        around = any(pid == row["pid"] and begin <= loaded and until <= end for pid, loaded, until in samples[index])
        joined += check(around, case, "another's load", row, "of sample", index)
        check(begin + row["load_ns"] <= row["begin_ns"] + row["wait_ns"], case, "loaded after it was handed out", row)
        if workers:
            check(row["worker_id"] in range(workers), case, "worker", row)
        if "stream" not in case and workers:
            equal(row["samples"], 4, case, "samples")
    equal(joined, sum(epochs), case, "batches with their loads")
    equal(len({row["pid"] for row in found}), processes, case, "processes that load")
    equal(len(rows(database, "SELECT 1 FROM process WHERE role = 'worker' AND loader_id IS NOT NULL")) > 0,
          processes > 1, case, "processes that are workers")
    told = json.loads(report("--json", database).out)
    say(case, told["verdict"], told["cause"], [(step["id"], step["text"]) for step in told["advice"]])
    text = json.dumps(told["advice"]) + report("-v", database).out
    for word in FOREIGN[case.split("_")[0]]:
        check(word not in text.replace("in order", ""), case, "says", word, text)


def main():
    need_shim()
    for case in sys.argv[1:] or CASES:
        compare(case)
    finish()


main()
