# SPDX-License-Identifier: Apache-2.0
"""Measures what dlprof costs on a GPU, beside torch.profiler and nsys, in rounds of runs that take turns.

usage: cost.py [WORKLOAD...] [--double] [--cpu]. Takes five minutes. Only the default level on the two trainings has
a limit; the launch-bound cost is published whatever it is. The most important workloads come first.
"""
import importlib.util
import json
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import (ARGUMENTS, DOUBLE, HERE, PYTHON, Table, left, median, probe, run, scratch,  # noqa
                 settings)
from accuracy import CPU, train  # noqa: E402

GATE = 1.02
OTHERS = "torch.profiler", "nsys"


def launches(level):
    """Returns the ns that the host spends on a launch."""
    lines = probe("launches", 10000 if DOUBLE else 200000, **under(level))
    return float([w for w in lines if w[0] == "launches"][0][3])


def long_kernels(level):
    """Returns the ns from the first launch to the last kernel's end, which shows if traced kernels take longer."""
    words = [w for w in probe("storm", 2000 if DOUBLE else 20000, 50, 0, **under(level))
             if w[0] == "storm"][0]
    return float(words[2]) - float(words[1])


def replays(level):
    lines = probe("graph", 200, 100 if DOUBLE else 500, **under(level))
    return median([int(w[2]) - int(w[1]) for w in lines if w[0] == "graph"])


def training(**plan):
    def measure(way):
        ours = way is not None and way not in OTHERS
        given = dict(plan, steps=100, stall_every=0, same=True)
        if way == "torch.profiler":
            given["profile"] = (15, 30 if CPU else 100)
        nsys = ["nsys", "profile", "-o", os.path.join(scratch(), "report")] if way == "nsys" else []
        steps, _, status, _ = train(given, ours, nsys, DLPROF_CUDA=way if ours else None)
        if status:
            raise RuntimeError("the training ended with {}".format(status))
        return median([s["end"] - s["begin"] for s in steps[20:]])
    return measure


BOUND = "training, GPU-bound", training(batch=128, workers=4, load_ms=0)
INPUT = "training, input-bound", training(batch=16, workers=1, load_ms=8)
LAUNCHES = "launch-bound, host ns a launch", launches
KERNELS = "20,000 kernels of 50 us", long_kernels
REPLAYS = "a graph of 200 nodes", replays

# Rows of workload, ways to run it, number of rounds. Each way is compared with the row's first one. None: nothing
# is preloaded; off: preloaded, but CUDA is left alone. The levels full and api cost the same as default.
PLAN = ((LAUNCHES, (None, "default", "memcpy", "off"), 6), (REPLAYS, ("default", "graphs"), 5),
        (KERNELS, (None, "default"), 5), (BOUND, (None, "default") + OTHERS, 4),
        (INPUT, (None, "default"), 5), (REPLAYS, (None, "default", "memcpy"), 4))


def under(level):
    return dict(preload=level is not None, DLPROF_CUDA=level, DLPROF_QUIET=1,
                DLPROF_ACTIVATE="always", DLPROF_OUT=os.path.join(scratch(), "run.db"))


def interval(ratios):
    """Returns the 95 % interval of the median, by bootstrap."""
    chance = random.Random(1)
    medians = sorted(median([chance.choice(ratios) for _ in ratios]) for _ in range(2000))
    return medians[50], medians[1949]


def measure(table, name, function, ways, rounds):
    """Measures a workload in rounds. Each round runs every way once, and begins with another way."""
    if "nsys" in ways and not shutil.which("nsys"):
        table.fact(name + ", nsys", "not here")
        ways = tuple(way for way in ways if way != "nsys")
    times, longest = {way: [] for way in ways}, 0
    for turn in range(2 if DOUBLE or CPU else rounds):
        if turn and left() < 1.5 * longest + 15:
            break
        before, first, found = left(), turn % len(ways), {}
        for way in ways[first:] + ways[:first]:
            found[way] = function(way)
        for way in ways:  # only now, so that a round that raises an exception adds no times
            times[way].append(found[way])
        longest = max(longest, before - left())
    base = times[ways[0]]
    for way in ways[1:]:
        ratios = [mine / bare for mine, bare in zip(times[way], base)]
        low, high = interval(ratios)
        gated = (name, function) in (INPUT, BOUND) and way == "default"
        table.row("{}: {} by {}, 95 % of the median; medians".format(name, way, ways[0] or "alone"),
                  "{:.4f}, {:.4f} to {:.4f} of {} rounds; {:.0f} and {:.0f} ns".format(
                      median(ratios), low, high, len(ratios), median(times[way]), median(base)),
                  "lower end <= {}, 3 rounds".format(GATE) if gated else "",
                  low <= GATE and len(ratios) >= 3 if gated and not CPU else None)


def memory(table):
    """Compares the free device memory at the end of a training without and with dlprof."""
    free = {}
    for level in None, "default":
        env = settings(preload=level is not None, double=False, DLPROF_CUDA=level,
                       DLPROF_OUT=os.path.join(scratch(), "run.db"))
        plan = json.dumps(dict(steps=60, stall_every=0, device="cpu" if CPU else "cuda"))
        _, out, _, _ = run([PYTHON, os.path.join(HERE, "training.py"), plan], env, 200)
        last = [json.loads(line) for line in out.splitlines() if '"free"' in line]
        free[level] = last[0]["free"] if last else None
    known = None not in free.values()
    table.row("device memory that tracing takes",
              "{:.1f} MB".format((free[None] - free["default"]) / 1e6) if known else "a training did not tell", "",
              None if known else False)


def main():
    table = Table("cost")
    checks = [("{}, {}".format(name, ways[1]), measure, table, name, function, ways, rounds)
              for (name, function), ways, rounds in PLAN
              if not ARGUMENTS or any(argument in name for argument in ARGUMENTS)]
    if not ARGUMENTS:
        checks.append(("memory", memory, table))
    if (DOUBLE and not CPU) or not importlib.util.find_spec("torch"):
        table.fact("the trainings", "left out: on the double, or no torch")
        checks = [check for check in checks if check[3:5] not in (INPUT, BOUND, ())]
    table.each(checks)


main()
