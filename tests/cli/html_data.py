# SPDX-License-Identifier: Apache-2.0
"""What is embedded for the script is the run, of bounded size."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import html_file
import line_runs
import pages
import rundb

TOLERANCE = 0.005  # of a prediction: times in the page have a precision of 0.02 %
MS = rundb.MS


def replay(trace):
    """In order, as it was, of one epoch: analysis/predict/replay.h, once more."""
    load, compute, lag, latency, handover = (
        html_file.unpack(trace[key]) for key in ("load", "compute", "lag", "latency", "handover"))
    workers, slots = trace["workers"], trace["workers"] * trace["prefetch"]
    (_, setup, start, _, _), = trace["epochs"]
    free, done, request, begin = [setup + start] * workers, [setup] * slots, setup, None
    for j, ns in enumerate(load):
        factor = dict(enumerate(trace["factors"])).get(j % workers, 1)
        free[j % workers] = max(free[j % workers], done[j % slots]) + lag[j] + ns * factor
        request = max(request, free[j % workers] + latency[j]) + handover[j]
        begin = begin or request
        done[j % slots] = request
        request += compute[j]
    return len(load) / (request - begin) * 1e9


def check_data(folder):
    """What is embedded is the run: times as recorded, and the replay's own batches."""
    for make in (pages.lockstep, pages.uneven):
        path = make(os.path.join(folder, "data.db"))
        page, _ = html_file.check_page(path, "data")
        data = page.data()
        rows = t.rows(path, "SELECT wait_ns, compute_ns FROM batch ORDER BY epoch, batch")
        for key in ("wait", "compute"):
            found = [ns for part in data["raw"] for ns in html_file.unpack(part[key])]
            t.equal(len(found), len(rows), key)
            worst = max(abs(ns - row[key + "_ns"]) / (row[key + "_ns"] + 1000)
                        for ns, row in zip(found, rows))
            t.check(worst < 0.0003, key, "is off by", worst)
        predicted = {row["id"]: row["batches_per_s"]
                     for row in json.loads(t.report("--json", path).out)["whatif"]}
        found = replay(data["trace"])
        t.check(abs(found / predicted["baseline"] - 1) < TOLERANCE, "baseline", found, predicted)


def check_sizes(folder):
    path = rundb.build(os.path.join(folder, "10k.db"),
                       [rundb.loader(pages.with_gpu(rundb.simulate(2000, 16, 200, 10, epochs=5,
                                                                   jitter=0.9)), workers=16)])
    _, raw = html_file.check_page(path, "10,000 batches")
    t.check(len(raw) <= 390000, "10,000 batches are", len(raw), "bytes")
    t.say("10,000 batches:", len(raw), "bytes")
    path = pages.long_run(os.path.join(folder, "long.db"), 120000)
    begin = time.monotonic()
    page, raw = html_file.check_page(path, "120,000 batches")
    data = page.data()
    t.check(len(raw) <= 1000000, "120,000 batches are", len(raw), "bytes")
    t.say("120,000 batches:", len(raw), "bytes,", round(time.monotonic() - begin, 2), "s")
    most = html_file.unpack(data["buckets"]["wait"]["most"])
    t.equal(len(most), 4096, "parts")
    t.check(abs(max(most) / (9000 * MS) - 1) < 0.001, "the longest wait is in the reduction",
            max(most))
    worst = [part for part in data["raw"] if part["begin"] <= 77777 < part["begin"] + part["count"]]
    if t.equal(len(worst), 1, "the batches around the longest wait are there one by one"):
        ns = html_file.unpack(worst[0]["wait"])[77777 - worst[0]["begin"]]
        t.check(abs(ns / (9000 * MS) - 1) < 0.001, "the longest wait", ns)


def check_flames(folder):
    """The stacks are those of the run; what others may write is bounded, and no markup."""
    page, _ = html_file.check_page(line_runs.capacity(os.path.join(folder, "lines.db")), "lines")
    flames = page.data()["flames"]
    t.equal([(group["name"], group["samples"], group["ns"], sum(row[0] for row in group["stacks"]))
             for group in flames["groups"]],
            [("Loads", 1000, 50000 * MS, 50000 * MS), ("Waits", 600, 30000 * MS, 30000 * MS),
             ("Steps", 400, 20000 * MS, 20000 * MS)], "groups")
    heaviest = [flames["frames"][frame] for frame in flames["groups"][0]["stacks"][0][1:]]
    t.equal(heaviest, [["_MapDatasetFetcher.fetch", "torch/utils/data/_utils/fetch.py:54", False],
                       ["collate", "train.py:12", True],
                       ["Tensor.__torch_function__", "torch/_tensor.py:1295", False]], "the heaviest")
    page, raw = html_file.check_page(pages.hostile(os.path.join(folder, "hostile.db")), "hostile")
    t.check("window.hacked" in str(page.data()["flames"]), "a name that is markup")
    path = rundb.build(os.path.join(folder, "huge.db"), [rundb.loader(rundb.simulate(98, 7, 200, 10),
                                                                      workers=7)],
                       lines=[("worker", 1, "load", [("/x/{}/{}.py".format("n" * 300, i), "f" * 300, j)
                                                     for j in range(6 if i else 200)], 9)
                              for i in range(900)])
    page, raw = html_file.check_page(path, "huge")
    flames = page.data()["flames"]
    t.check(len(flames["frames"]) <= 4000 and len(flames["groups"][0]["stacks"]) <= 600 and
            max(len(row) for row in flames["groups"][0]["stacks"]) <= 65, "bounds")
    t.check(len(raw) < 3000000, "a page of", len(raw), "bytes")


def main():
    folder = t.scratch()
    check_data(folder)
    check_sizes(folder)
    check_flames(folder)
    t.finish()


main()
