# SPDX-License-Identifier: Apache-2.0
"""One account: what the program's own stopwatch says, what is said at its exit, and the report.

usage: account.py [NAME...] of account/. Each number is compared with those of the same run, so a busy
machine makes other numbers and no other answer."""
import concurrent.futures
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, databases, environment, equal, finish,  # noqa: E402
                         need_shim, need_torch, report, rows, run, say, scratch, wait_for_drain)

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "account")
PARTS = ("not_ready", "receiving", "epoch_start", "epoch_end")
AT_ONCE = 3  # they sleep for the most part
ROW = "{:14} stopwatch {:5.1f} %  line {:>3} %  report {:5.1f} %"


def record(name):
    """The program as it ends, and its database."""
    folder = scratch()
    done = run([PYTHON, "-W", "ignore", os.path.join(PROGRAMS, name + ".py")], cwd=folder,
               env=environment(DLPROF_OUT=os.path.join(folder, "run.db"), OMP_NUM_THREADS=1))
    return name, done, folder


def near(found, own, *what):
    """Within a point, or 2 % of it."""
    check(found is not None and abs(found - own) <= max(0.01, 0.02 * own), *what,
          "is {} by the report, {:.4f} by the stopwatch".format(found, own))


def compare(name, done, folder):
    found = databases(folder)
    if not equal((done.status, len(found)), (0, 1), name, "status, runs", done.err[-2000:]):
        return
    wait_for_drain(found[0])
    own = json.loads(done.out)
    said = report("--json", found[0])
    equal(said.status, 0, name, "report", said.err)
    stall = json.loads(said.out)["stall"]
    line = re.search(r"(\d+) % of the time waiting for data", done.err)
    if not check(line, name, "no line at exit", done.err):
        return
    say(ROW.format(name, own["ratio"] * 100, line[1], stall["ratio"] * 100))
    near(stall["ratio"], own["ratio"], name, "stall ratio")
    check(abs(int(line[1]) - stall["ratio"] * 100) <= 1, name, "the line at exit says", line[1],
          "the report", stall["ratio"])
    parts = [stall.get(part) for part in PARTS]
    check(None not in parts and abs(sum(parts) - stall["ratio"]) < 1e-6, name,
          "the parts are not the whole", parts, stall["ratio"])
    check(abs(stall["gain_max"] * (1 - stall["ratio"]) - 1) < 1e-6, name, "gain", stall)
    near(stall.get("epoch_start"), own["epoch_start"], name, "epoch start")
    near(stall.get("epoch_end"), own["epoch_end"], name, "epoch end")
    near(None if None in parts else sum(parts[:2]), own["within"], name, "not ready + receiving")
    startup_s = stall.get("startup_s")
    check(startup_s and abs(startup_s - own["startup_s"]) <= max(0.02, 0.02 * own["startup_s"]),
          name, "start-up", startup_s, own["startup_s"])
    asked = rows(found[0], "SELECT DISTINCT loader_id, epoch, batch FROM batch JOIN epoch "
                 "USING (loader_id, epoch) WHERE NOT IFNULL(nested, 0)")
    equal(len(asked), own["batches"], name, "batches")
    if "loaders" in own:
        equal(len({row["loader_id"] for row in asked}), own["loaders"], name, "loaders")


def main():
    need_torch()
    need_shim()
    names = sys.argv[1:] or sorted(entry[:-3] for entry in os.listdir(PROGRAMS)
                                   if entry.endswith(".py") and entry != "stopwatch.py")
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for result in pool.map(record, names):
            compare(*result)
    finish()


main()
