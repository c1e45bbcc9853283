# SPDX-License-Identifier: Apache-2.0
"""Compares what dlprof says of a training on this GPU with torch.profiler, CUDA events and the script's clock.

usage: accuracy.py [CASE...] [--cpu]. Takes four minutes. --cpu: without a GPU, shows only that the scripts run.
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import (ARGUMENTS, HERE, PYTHON, Table, median, rows, run, scratch, settings,  # noqa
                 union, wait_for_drain)

CPU = "--cpu" in sys.argv
CASES = {
    "cnn": {},
    "transformer": dict(model="transformer", batch=32),
    "amp": dict(amp=True),
    "prefetch": dict(prefetch=True),
    "accumulation": dict(accumulate=4),
    "compile": dict(compile="default"),
    "graphs": dict(compile="reduce-overhead"),
}
PROFILED = (100, 140)
STEPS = 200
# Eight batches may be queued when a load stalls. A shorter stall than their steps would cause no wait.
STALL_MS, SEEN_MS = 300, 40


def train(plan, preload=True, runner=(), **changes):
    """Runs training.py once, under the command `runner`. Returns (steps, database, exit status, seconds)."""
    folder = scratch()
    database = os.path.join(folder, "run.db")
    plan = dict(dict(steps=STEPS, stall_ms=STALL_MS), **plan)
    plan = dict(plan, device="cpu", steps=30, batch=2, size=16) if CPU else plan
    env = settings(preload=preload, double=False, DLPROF_OUT=database, DLPROF_QUIET=1, **changes)
    status, out, err, seconds = run(list(runner) + [PYTHON, os.path.join(HERE, "training.py"),
                                                    json.dumps(plan)], env, timeout=300)
    if preload:
        wait_for_drain(database)
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    if status:
        print("training", plan, "ended with", status, err[-800:], file=sys.stderr)
    return ([line for line in lines if "step" in line], database, status, seconds)


def gpu_steps(database):
    return rows(database, "SELECT * FROM gpu_step WHERE step_ns NOT NULL ORDER BY begin_ns")


def traced_busy(path):
    """Returns of a trace by torch.profiler: ns in which kernels ran, number of kernels, of all GPU operations."""
    with open(path) as file:
        events = json.load(file)
    if isinstance(events, dict):  # a torch without kineto writes a bare list
        events = events["traceEvents"]
    spans = [(float(e["ts"]), float(e["ts"]) + float(e["dur"])) for e in events
             if e.get("cat") == "kernel"]
    others = sum(e.get("cat") in ("gpu_memcpy", "gpu_memset") for e in events)
    return union([(int(b * 1000), int(e * 1000)) for b, e in spans]), len(spans), len(spans) + others


def off(found, true):
    return abs(found - true) / true if true else float(bool(found))


def check_case(table, name):
    plan = CASES[name]
    steps, database, status, _ = train(plan)
    table.row(name + ": exit status", status, 0, status == 0)
    found = {row["batch"]: row for row in gpu_steps(database)}
    known = [(s, found[s["step"]]) for s in steps if s["step"] in found and
             found[s["step"]]["gpu_busy_ns"] is not None]
    table.row(name + ": steps whose GPU is known", "{} of {}".format(len(known), len(steps)),
              "all but the last", len(known) >= len(steps) - 1)
    warm = known[20:]
    if not warm:
        return
    over = [row["gpu_busy_ns"] / 1e6 - s["event_ms"] for s, row in warm if s["event_ms"]]
    table.row(name + ": busy is more than the events' time, 95 %",
              "{:.2f} ms".format(sorted(over)[int(0.95 * len(over))]) if over else "no events",
              "<= 0.1 ms", bool(over) and sorted(over)[int(0.95 * len(over))] <= 0.1)
    exact = sum(row["h2d_bytes"] == s["bytes"] for s, row in warm)
    table.row(name + ": h2d bytes are the tensors'", "{} of {}".format(exact, len(warm)), "all",
              exact == len(warm) or plan.get("prefetch", False))
    every = 25
    stalls = [row for s, row in warm if s["step"] % every == every - 1]
    idle = median([row["gpu_idle_wait_ns"] for row in stalls])
    host = median([s["fetched"] - s["begin"] for s, row in warm if s["step"] % every == every - 1])
    wrong = abs(idle - host) if idle is not None and host else None
    # item() has emptied the GPU's queue, so the GPU idles as long as the script waits for the batch.
    table.row(name + ": idle in an injected stall, off the script's wait by",
              "{:.2f} ms of {:.1f}".format((wrong or 0) / 1e6, (host or 0) / 1e6),
              "<= 1 ms or 3 %, of {} ms or more".format(SEEN_MS),
              wrong is not None and host >= SEEN_MS * 1e6 and wrong <= max(1e6, 0.03 * host))
    gaps = sum(abs(sum(row["gap_" + gap + "_ns"] for gap in ("data", "h2d", "sync", "host",
                                                             "other"))
                   - (row["step_ns"] - row["gpu_busy_ns"])) > 0 for _, row in warm)
    table.row(name + ": steps whose gaps do not add up", gaps, 0, gaps == 0)
    check_profiler(table, name, plan, {s["step"]: row for s, row in known})


def check_profiler(table, name, plan, ours):
    """Runs the training again with the same seed under torch.profiler alone, and compares kernels and busy time."""
    trace = os.path.join(scratch(), "trace.json")
    _, _, status, _ = train(dict(plan, profile=PROFILED, trace=trace), preload=False)
    if status or not os.path.exists(trace):
        table.row(name + ": torch.profiler alone", status, 0, False)
        return
    busy, count, _ = traced_busy(trace)
    mine = [ours[step] for step in range(*PROFILED) if step in ours]
    table.row(name + ": steps to compare", len(mine), PROFILED[1] - PROFILED[0],
              len(mine) == PROFILED[1] - PROFILED[0])
    found = sum(row["gpu_busy_ns"] for row in mine)
    table.row(name + ": busy off torch.profiler's union", "{:.1%}".format(off(found, busy)),
              "<= 2 %", off(found, busy) <= 0.02 or plan.get("compile") == "reduce-overhead")
    kernels = sum(row["kernel_count"] for row in mine)
    table.row(name + ": kernels", "{} of {}".format(kernels, count), "equal",
              kernels == count or plan.get("compile") == "reduce-overhead")


def main():
    table = Table("accuracy")
    table.each([(name, check_case, table, name) for name in ARGUMENTS or CASES])


if __name__ == "__main__":
    main()
