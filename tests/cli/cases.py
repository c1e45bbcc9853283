# SPDX-License-Identifier: Apache-2.0
"""Labelled series against the report: ratios, counts and verdict as their labels say.

The series are no part of this tree; where they are missing the test is skipped. Those with GPU
times are left out: the report does not use GPU times yet.
"""
import csv
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import rundb

CASES = os.path.join(t.ROOT, "..", "shared", "cases")
COLUMNS = {"wait_ns": "wait_ns", "load_ns": "load_ns", "compute_ns": "compute_ns",
           "worker_id": "worker_id", "qdepth": "qdepth", "head_ready": "head_ready",
           "load_cpu_ns": "cpu_ns"}


def read_batches(path):
    """The index counts on over epochs; a database counts within each."""
    first = {}
    with open(path, encoding="ascii", newline="") as file:
        for row in csv.DictReader(file):
            epoch, index = int(row["epoch"]), int(row["batch"])
            first.setdefault(epoch, index)
            batch = {"epoch": epoch, "task": index - first[epoch], "batch": index - first[epoch]}
            for name, column in COLUMNS.items():
                if row.get(name):
                    batch[column] = int(row[name])
            batch["step_ns"] = batch["wait_ns"] + batch["compute_ns"]
            yield batch


def as_flag(value):
    return None if value is None else int(value)


def check_case(case, folder):
    meta, expected = case["meta"], case["expected"]
    batches = list(read_batches(os.path.join(CASES, case["file"])))
    path = rundb.build(os.path.join(folder, case["id"] + ".db"), [rundb.loader(
        batches, workers=meta["workers"], prefetch_factor=meta["prefetch_factor"],
        in_order=as_flag(meta["in_order"]), persistent=as_flag(meta["persistent_workers"]))])
    result = t.report("--json", path)
    if not t.equal(result.status, 0, case["id"], result.err):
        return
    found = json.loads(result.out)
    stall = found["stall"]
    t.say("{}  ratio {:.4f} ({:.4f})  starved {} ({})  cause {}".format(
        case["id"], stall["ratio"], expected["stall_ratio"], stall["starved_batches"],
        expected["starved_batches"], found["cause"]))
    t.check(abs(stall["ratio"] - expected["stall_ratio"]) <= expected["stall_ratio_tol"] / 10,
            case["id"], "stall ratio", stall["ratio"])
    for key in ("delivery_ratio", "epoch_start_ratio"):
        t.check(abs(stall[key] - expected[key]) < 1e-4, case["id"], key, stall[key])
    t.check(abs(stall["theta_s"] * 1e3 - expected["theta_ms"]) < 1e-3, case["id"], "theta",
            stall["theta_s"])
    for key in ("starved_batches", "steady_batches"):
        t.equal(stall[key], expected[key], case["id"], key)
    t.equal(found["starved"], expected["starved"], case["id"], "starved")
    # Other causes are not told apart yet; what is told must be right.
    if found["cause"] not in (None, "none"):
        t.check(found["cause"] in expected["cause"], case["id"], "cause", found["cause"])


def main():
    labels = os.path.join(CASES, "labels.json")
    if not os.path.exists(labels):
        t.skip("no labelled series at {}".format(CASES))
    with open(labels, encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    folder = t.scratch()
    for case in cases:
        if case["meta"]["sync"]:
            check_case(case, folder)
    t.finish()


main()
