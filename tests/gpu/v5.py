# SPDX-License-Identifier: Apache-2.0
"""V5: what dlprof costs on a GPU. Ten pairs of each workload and level, in the order ABBA. Nine minutes.

usage: v5.py [WORKLOAD...] [--double]. The launch-bound one is published whatever it is; the gate is the
default level on the trainings.
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import ARGUMENTS, DOUBLE, Table, median, probe, scratch  # noqa: E402
from v2 import CPU, train  # noqa: E402

PAIRS = 10
GATE = 1.02

# None: not preloaded at all; off: preloaded, and CUDA left alone.
LEVELS = {"off": "off", "memcpy": "memcpy", "default": "default", "full": "full"}


def launches(level):
    """Nanoseconds that the host spends on a launch."""
    lines = probe("storm", 20000 if DOUBLE else 200000, 2, 0, **under(level))
    return float([w for w in lines if w[0] == "storm"][0][3])


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


WORKLOADS = {
    "launch-bound, host ns a launch": (launches, False),
    "20,000 kernels of 50 us": (long_kernels, False),
    "a graph of 200 nodes": (replays, False),
    "training, GPU-bound": (training(batch=256, workers=4, load_ms=0), True),
    "training, input-bound": (training(batch=16, workers=1, load_ms=8), True),
}


def under(level):
    return dict(preload=level is not None, DLPROF_CUDA=level, DLPROF_QUIET=1,
                DLPROF_ACTIVATE="always", DLPROF_OUT=os.path.join(scratch(), "run.db"))


def interval(ratios):
    """95 % of the median, by bootstrap."""
    chance = random.Random(1)
    medians = sorted(median([chance.choice(ratios) for _ in ratios]) for _ in range(2000))
    return medians[50], medians[1949]


def measure(table, name, gated):
    function, gated = WORKLOADS[name]
    pairs = 2 if DOUBLE or CPU else PAIRS
    for level in LEVELS:
        ratios, bare = [], []
        for pair in range(pairs):
            order = (None, level) if pair % 2 == 0 else (level, None)
            times = {which: function(which) for which in order}
            ratios.append(times[level] / times[None])
            bare.append(times[None])
        low, high = interval(ratios)
        limit = gated and level == "default"
        table.row("{}, level {}: with by without, 95 % of the median; without".format(name, level),
                  "{:.4f}, {:.4f} to {:.4f}; {:.0f} ns".format(median(ratios), low, high,
                                                              median(bare)),
                  "lower end <= {}".format(GATE) if limit else "",
                  low <= GATE if limit else None)


def memory(table):
    """Free device memory at the end of the same training."""
    free = {}
    for level in None, "default":
        from kit import HERE, PYTHON, run, settings
        env = settings(preload=level is not None, double=False, DLPROF_CUDA=level,
                       DLPROF_OUT=os.path.join(scratch(), "run.db"))
        plan = json.dumps(dict(steps=60, stall_every=0, device="cpu" if CPU else "cuda"))
        _, out, _, _ = run([PYTHON, os.path.join(HERE, "v2_train.py"), plan], env, 200)
        last = [json.loads(line) for line in out.splitlines() if '"free"' in line]
        free[level] = last[0]["free"] if last else 0
    table.fact("device memory that tracing takes",
               "{:.1f} MB".format((free[None] - free["default"]) / 1e6))


def main():
    table = Table("V5")
    for name, (_, gated) in WORKLOADS.items():
        if ARGUMENTS and not any(argument in name for argument in ARGUMENTS):
            continue
        if DOUBLE and gated:
            continue
        try:
            measure(table, name, gated)
        except Exception as error:  # the next ones are worth having
            table.row(name + ": could not be looked at", repr(error), "", False)
    if not DOUBLE and not ARGUMENTS:
        memory(table)
    table.end()


main()
