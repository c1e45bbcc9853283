# SPDX-License-Identifier: Apache-2.0
"""What is embedded for the script is the run, of bounded size."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import html_file
import pages
import rundb

TOLERANCE = 0.005  # of a prediction: times in the page have a precision of 0.02 %


def replay(trace):
    """In order, as it was, of one epoch: analysis/replay.h, once more."""
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
    """What is embedded are the replay's own batches."""
    for make in (pages.lockstep, pages.uneven):
        path = make(os.path.join(folder, "data.db"))
        page, _ = html_file.check_page(path, "data")
        data = page.data()
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
    _, raw = html_file.check_page(path, "120,000 batches")
    t.check(len(raw) <= 1000000, "120,000 batches are", len(raw), "bytes")
    t.say("120,000 batches:", len(raw), "bytes,", round(time.monotonic() - begin, 2), "s")


def main():
    folder = t.scratch()
    check_data(folder)
    check_sizes(folder)
    t.finish()


main()
