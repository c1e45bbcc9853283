# SPDX-License-Identifier: Apache-2.0
"""One account: what a program's own stopwatch says, what is said at its exit, and the report.

usage: account.py [NAME...] of account/. The numbers of one run are compared: a busy machine makes
other numbers and no other answer, unless it stops a program between its own look at the clock and
ours: one that disagrees is run again, and a fault is there each time."""
import concurrent.futures
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import fakes  # noqa: E402
from dlprof_test import (PYTHON, check, databases, environment, equal, finish,  # noqa: E402
                         need_shim, need_torch, report, rows, run, say, scratch, use_stub,
                         wait_for_drain)

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "account")
NAMED = re.compile("^# (DLPROF_BATCH_FN)=(.*)$", re.M)
PARTS = ("not_ready", "receiving", "sampling", "epoch_start", "epoch_end")
BATCHES = """SELECT DISTINCT loader_id, epoch, batch FROM batch JOIN epoch USING (loader_id, epoch)
             WHERE NOT IFNULL(nested, 0)"""
AT_ONCE = 3  # they sleep for the most part
ATTEMPTS = 3
ROW = "{:14} stopwatch {:5.1f} %  line {:>3} %  report {:5.1f} %  {}"


def program_of(name):
    return os.path.join(PROGRAMS, name + ".py")


def record(name):
    """The program as it ends, and its folder."""
    folder = scratch()
    with open(program_of(name)) as file:
        named = dict(NAMED.findall(file.read()))
    done = run([PYTHON, "-W", "ignore", program_of(name)], cwd=folder,
               env=environment(DLPROF_OUT=os.path.join(folder, "run.db"), OMP_NUM_THREADS=1,
                               **named))
    return name, done, folder


def is_near(found, own):
    """Within a point, or 2 % of it."""
    return found is not None and abs(found - own) <= max(0.01, 0.02 * own)


def differences(own, line, stall):
    """What is said that the stopwatch does not say, as [what, said, own]."""
    parts = [stall.get(part) for part in PARTS]
    if parts[2] is None:  # not every loader's sampler is seen
        parts[2] = 0
    if None in parts and not own["is_opaque"]:
        return [["parts", parts, "known"]]
    pairs = {"ratio": (stall["ratio"], own["ratio"])}
    if not own["raised"]:  # else the next batch, or epoch, has that
        pairs.update({"epoch start": (stall["epoch_start"], own["epoch_start"]),
                      "epoch end": (stall["epoch_end"], own["epoch_end"])})
    if not own["raised"] and not own["is_opaque"]:
        pairs["not ready + receiving + sampling"] = sum(parts[:3]), own["within"]
    if own["tells_parts"]:
        pairs["receiving"] = (stall["receiving"], own["receiving"])
    wrong = [[what, *pair] for what, pair in pairs.items() if not is_near(*pair)]
    if abs(line - stall["ratio"] * 100) > 1:
        wrong.append(["line at exit, report", line, stall["ratio"]])
    start_s = abs(stall["startup_s"] - own["startup_s"])
    if not own["starts_unseen"] and start_s > max(0.02, 0.02 * own["startup_s"]):
        wrong.append(["start-up", stall["startup_s"], own["startup_s"]])
    return wrong


def compare(name, done, folder):
    """The differences; what must hold whatever the times were is checked."""
    found = databases(folder)
    if not equal((done.status, len(found)), (0, 1), name, "status, runs", done.err[-2000:]):
        return []
    wait_for_drain(found[0])
    own = json.loads(done.out)
    said = report("--json", found[0])
    equal(said.status, 0, name, "report", said.err)
    stall = json.loads(said.out)["stall"]
    line = re.search(r"(\d+) % of the time waiting for data", done.err)
    if not check(line, name, "no line at exit", done.err):
        return []
    sum_of_parts = sum(stall.get(part) or 0 for part in PARTS)
    if not own["is_opaque"]:
        check(abs(sum_of_parts - stall["ratio"]) < 1e-6, name, "the parts are not the whole", stall)
    check(abs(stall["gain_max"] * (1 - stall["ratio"]) - 1) < 1e-6, name, "gain", stall)
    asked = rows(found[0], BATCHES)
    equal(len(asked), own["batches"], name, "batches")
    if own["loaders"]:
        equal(len({row["loader_id"] for row in asked}), own["loaders"], name, "loaders")
    wrong = differences(own, int(line[1]), stall)
    say(ROW.format(name, own["ratio"] * 100, line[1], stall["ratio"] * 100, wrong or ""))
    return wrong


def check_all(names):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(record, names))
    for name, done, folder in results:
        wrong = compare(name, done, folder)
        for _ in range(1, ATTEMPTS):
            wrong = wrong and compare(*record(name))
        check(not wrong, name, *wrong)


def main():
    need_torch()
    need_shim()
    names = sys.argv[1:] or sorted(entry[:-3] for entry in os.listdir(PROGRAMS)
                                   if entry.endswith(".py") and entry != "stopwatch.py")
    # To these it matters what a tensor is.
    torch = [name for name in names if "import torch\n" in open(program_of(name)).read()]
    check_all(torch)
    fakes.write(use_stub())
    check_all([name for name in names if name not in torch])
    finish()


main()
