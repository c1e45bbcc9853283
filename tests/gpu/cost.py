# SPDX-License-Identifier: Apache-2.0
"""What dlprof costs on a GPU: pairs of runs with and without, in the order ABBA. Seven minutes.

usage: cost.py [WORKLOAD...] [--double]. The launch-bound one is published whatever it is; the gate is the
default level on the trainings. The order is that of their worth: what there is no time for is left.
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import (ARGUMENTS, DOUBLE, HERE, PYTHON, Table, left, median, probe, run, scratch,  # noqa
                 settings)
from accuracy import CPU, train  # noqa: E402

GATE = 1.02
FEWEST = 3  # pairs


def launches(level):
    """Nanoseconds that the host spends on a launch."""
    lines = probe("launches", 10000 if DOUBLE else 200000, **under(level))
    return float([w for w in lines if w[0] == "launches"][0][3])


def long_kernels(level):
    """Nanoseconds from the first launch to the last end: does a kernel take longer when traced?"""
    words = [w for w in probe("storm", 2000 if DOUBLE else 20000, 50, 0, **under(level))
             if w[0] == "storm"][0]
    return float(words[2]) - float(words[1])


def replays(level):
    lines = probe("graph", 200, 100 if DOUBLE else 500, **under(level))
    return median([int(w[2]) - int(w[1]) for w in lines if w[0] == "graph"])


def training(**plan):
    def measure(level):
        steps, _, status, _ = train(dict(plan, steps=120, stall_every=0), level is not None,
                                    DLPROF_CUDA=level)
        if status:
            raise RuntimeError("the training ended with {}".format(status))
        return median([s["end"] - s["begin"] for s in steps[20:]])
    return measure


# None: not preloaded at all; off: preloaded, and CUDA left alone.
BOUND = "training, GPU-bound", training(batch=256, workers=4, load_ms=0)
INPUT = "training, input-bound", training(batch=16, workers=1, load_ms=8)
LAUNCHES = "launch-bound, host ns a launch", launches
KERNELS = "20,000 kernels of 50 us", long_kernels
REPLAYS = "a graph of 200 nodes", replays

# Workload, level, pairs.
PLAN = ((INPUT, "default", 6), (BOUND, "default", 6), (LAUNCHES, "default", 8),
        (KERNELS, "default", 5), (REPLAYS, "default", 5), (LAUNCHES, "off", 4),
        (LAUNCHES, "memcpy", 4), (LAUNCHES, "full", 4), (REPLAYS, "memcpy", 4), (REPLAYS, "graphs", 4))


def under(level):
    return dict(preload=level is not None, DLPROF_CUDA=level, DLPROF_QUIET=1,
                DLPROF_ACTIVATE="always", DLPROF_OUT=os.path.join(scratch(), "run.db"))


def interval(ratios):
    """95 % of the median, by bootstrap."""
    chance = random.Random(1)
    medians = sorted(median([chance.choice(ratios) for _ in ratios]) for _ in range(2000))
    return medians[50], medians[1949]


def measure(table, name, function, level, pairs, gated):
    ratios, bare, longest = [], [], 0
    for pair in range(2 if DOUBLE or CPU else pairs):
        if len(ratios) >= FEWEST and left() < 1.5 * longest + 15:
            break
        before = left()
        order = (None, level) if pair % 2 == 0 else (level, None)
        times = {which: function(which) for which in order}
        longest = max(longest, before - left())
        ratios.append(times[level] / times[None])
        bare.append(times[None])
    low, high = interval(ratios)
    table.row("{}, level {}: with by without, 95 % of the median; without".format(name, level),
              "{:.4f}, {:.4f} to {:.4f} of {} pairs; {:.0f} ns".format(
                  median(ratios), low, high, len(ratios), median(bare)),
              "lower end <= {}".format(GATE) if gated else "", low <= GATE if gated else None)


def memory(table):
    """Free device memory at the end of the same training."""
    free = {}
    for level in None, "default":
        env = settings(preload=level is not None, double=False, DLPROF_CUDA=level,
                       DLPROF_OUT=os.path.join(scratch(), "run.db"))
        plan = json.dumps(dict(steps=60, stall_every=0, device="cpu" if CPU else "cuda"))
        _, out, _, _ = run([PYTHON, os.path.join(HERE, "training.py"), plan], env, 200)
        last = [json.loads(line) for line in out.splitlines() if '"free"' in line]
        free[level] = last[0]["free"] if last else 0
    table.fact("device memory that tracing takes",
               "{:.1f} MB".format((free[None] - free["default"]) / 1e6))


def main():
    table = Table("cost")
    checks = [("{}, {}".format(name, level), measure, table, name, function, level, pairs,
               (name, function) in (INPUT, BOUND))
              for (name, function), level, pairs in PLAN
              if not ARGUMENTS or any(argument in name for argument in ARGUMENTS)]
    if DOUBLE:
        checks = [check for check in checks if not check[-1]]
    elif not ARGUMENTS:
        checks.append(("memory", memory, table))
    table.each(checks)


main()
