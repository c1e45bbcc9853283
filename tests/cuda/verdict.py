# SPDX-License-Identifier: Apache-2.0
"""The verdict counts the waits for data in which the GPU idled, and no wait in which it worked.

usage: verdict.py CASE...
"""
import concurrent.futures
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (busy, check, equal, finish, loop, need_shim, report, say, union)  # noqa

LATE = 5
ATTEMPTS = 4  # other programs may take the CPU, and then the host is not ahead of the GPU


def judged(done):
    said = report("--json", done.database)
    equal(said.status, 0, "dlprof-report", said.err)
    text = report("-v", done.database)
    equal(text.status, 0, "dlprof-report", text.err)
    return json.loads(said.out), text.out


def truth(done):
    """Shares of the steps' time in which the host waits for data, and in which the GPU idles meanwhile."""
    steps = done.query("SELECT * FROM gpu_step WHERE step_ns NOT NULL AND batch >= 1")
    total = sum(row["step_ns"] for row in steps)
    waits = sum(row["wait_ns"] for row in steps)
    idle = sum(row["wait_ns"] - union(busy(done.ops), row["begin_ns"],
                                      row["begin_ns"] + row["wait_ns"]) for row in steps)
    return waits / total, idle / total


def check_ahead():
    """The host, a step ahead, waits for data two thirds of the time, the GPU never: not input-bound."""
    plan = dict(steps=90, wait=6000, kernels=10, kernel=900, prefetch=1, sync=LATE, memset=0)
    for _ in range(ATTEMPTS):
        done = loop(plan, timeout=120)
        equal(done.status, 0, "ahead", done.err)
        host, gpu = truth(done)
        said, text = judged(done)
        # The line at exit speaks of the host's wait, since it cannot know the GPU's.
        check(", the host waited " in done.err, "ahead: the line at exit", done.err)
        check("waiting is what the GPU idled in it" in " ".join(text.split()), "ahead: the account's clock", text)
        ratio = said["stall"]["ratio"]
        say("ahead: the host waits {:.1%}, the GPU idles {:.1%} of it".format(host, gpu))
        equal(said["clock"], "gpu", "ahead")
        check(ratio < gpu + 0.03, "ahead: waits that the GPU does not feel", ratio, gpu, host)
        if host > 0.5 and gpu < 0.02:
            equal(said["verdict"], "not_input_bound", "ahead")
            check("NOT INPUT-BOUND" in text, "ahead: text", text)
            return
    say("ahead: this machine is too busy for a host that is ahead")


def check_starved():
    """The GPU idles in all waits, since the host is not ahead: highly input-bound."""
    plan = dict(steps=90, wait=6000, kernels=10, kernel=250, memset=0)
    done = loop(plan, timeout=120)
    equal(done.status, 0, "starved", done.err)
    host, gpu = truth(done)
    check(re.search(r"dlprof: \d+ batches, the host waited \d+ % of the time for data, ", done.err),
          "starved: the line at exit", done.err)
    say("starved: the host waits {:.1%}, the GPU idles {:.1%}".format(host, gpu))
    said, text = judged(done)
    equal((said["verdict"], said["clock"]), ("highly_input_bound", "gpu"), "starved")
    check(abs(said["stall"]["ratio"] - gpu) < 0.05, "starved: ratio", said["stall"]["ratio"], gpu)
    check("HIGHLY INPUT-BOUND" in text, "starved: text", text)


def check_host_alone():
    """Without CUPTI the verdict on such a run is by the host's clock, and the report says so."""
    plan = dict(steps=90, wait=6000, kernels=10, kernel=250, memset=0)
    done = loop(plan, FAKE_CUPTI_RC_SUBSCRIBE=39, timeout=120)
    said, text = judged(done)
    check(" % of the time waiting for data, " in done.err, "host alone: the line", done.err)
    equal(said["clock"], "host", "host alone")
    check("39" in text or "CUPTI" in text, "host alone: says why", text)


def check_marks_none():
    """A program without marks, which say where a step begins, has no steps and no verdict."""
    done = loop(dict(steps=120, wait=4000, kernels=10, kernel=300, marks=0))
    equal(done.status, 0, "no marks", done.err)
    for table in ("loader", "batch"):
        equal(done.query("SELECT * FROM " + table), [], "no marks: " + table)
    said = report("--json", done.database)
    equal(said.status, 3, "no marks: dlprof-report", said.err)
    equal(json.loads(said.out)["verdict"], "incomplete", "no marks")


def check_copies():
    """Where the GPU stands still for copies, the advice goes by the memory that they are from."""
    plan = dict(steps=300, wait=100, kernels=10, kernel=300, h2d=50_000_000, memset=0, print=0)
    for changes, wanted in (dict(), "hide_copies"), (dict(pinned=0), "pageable_h2d"), \
                           (dict(prefetch=1, sync=LATE), None):
        done = loop(dict(plan, **changes), timeout=120)
        said, text = judged(done)
        known = {advice["id"] for advice in said["advice"]} & {"hide_copies", "pageable_h2d"}
        equal(known, {wanted} - {None}, "copies", changes, said["gpu"]["h2d_s"], said["gpu"]["gaps"] if "gaps" in said["gpu"] else "")
        equal("100 % from pinned memory" in " ".join(text.split()), wanted == "hide_copies", "copies", changes, text)


CASES = {
    "copies": check_copies,
    "ahead": check_ahead,
    "starved": check_starved,
    "host": check_host_alone,
    "no-marks": check_marks_none,
}


def main():
    need_shim()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: CASES[name](), sys.argv[1:]))
    finish()


main()
