# SPDX-License-Identifier: Apache-2.0
"""dlprof's numbers of the GPU agree with what the fake device did in each step: times to 1 %, counts exactly.

usage: accuracy.py CASE... (see CASES). The device's operations are cut at dlprof's boundaries of the
steps. The fake device decides when each operation runs, so that nothing depends on a measured clock.
"""
import concurrent.futures
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (MS, busy, began_in, check, copies, equal, finish, loop, near, need_shim,  # noqa
                 say, syncs, union)

COLLECTIVE = re.compile(r"nccl(Symk)?(Dev)?Kernel_")
STREAM, EVENT, DEVICE, ITEM, LATE = 1, 2, 3, 4, 5

CASES = {
    "one": dict(),
    "driver": dict(driver=1),
    "four": dict(streams=4, kernels=12),
    "event": dict(sync=EVENT),
    "device": dict(sync=DEVICE),
    "graph": dict(graph=1, env={"DLPROF_CUDA": "graphs"}),
    "graph-host": dict(graph=1, h2d_count=0, env={"DLPROF_CUDA": "graphs", "FAKE_CUPTI_GRAPH_HOST": 1}),
    "nodes": dict(graph=1),
    "prefetch": dict(prefetch=1, sync=LATE, think=500),
    "accumulation": dict(accumulate=4, sync=ITEM, steps=24),
    "eval": dict(eval_every=5),
    "variable": dict(random_kernel=200, random_wait=3000, h2d_count=4, pinned=0, sync=ITEM),
    "cuda12": dict(cuda=12),
    "disorder": dict(steps=60, streams=3, env={"FAKE_CUPTI_OUT_OF_ORDER": 1,
                                               "FAKE_CUPTI_DELAY_MS": 30}),
    "correlated": dict(graph=1, env={"FAKE_CUPTI_CORRELATION": 1}),
    "shared": dict(env={"FAKE_CUPTI_THREADS": 0, "FAKE_CUPTI_FLUSH_BY_CALLER": 1}),
    "old": dict(env={"FAKE_CUPTI_KERNEL_SIZE": 144}),
    "new": dict(env={"FAKE_CUPTI_VERSION": 130500}),
    "long": dict(env={"FAKE_CUPTI_KERNEL_SIZE": 264}),
    "nccl-old": dict(collective=1),
    "nccl": dict(collective=2),
    "nccl-symmetric": dict(collective=3),
    "nccl-none": dict(collective=4),
    "long-names": dict(long_names=1),
    "stamps": dict(steps=150, env={"FAKE_REALTIME_STEP_S": 3600,
                                   "FAKE_REALTIME_STEP_AT_MS": 600}),
}
STEPS = dict(steps=20, wait=4000, kernels=10, kernel=300)


def record(name):
    plan = dict(STEPS, **CASES[name])
    env, cuda = plan.pop("env", {}), plan.pop("cuda", 13)
    return plan, loop(plan, cuda=cuda, **env)


def check_run(name, plan, done):
    equal((done.status, done.misuse()), (0, []), name, "exit status, misuse", done.err)
    meta = done.meta()
    equal((meta.get("cuda_mode"), meta.get("clock")), ("cupti", "gpu"), name, "mode")
    equal(meta.get("gpu"), "Fake GPU 0", name, "device")
    for key in "cuda_bad_ts", "cuda_dropped", "cuda_own_drop":
        equal(meta.get(key), "0", name, key)
    equal(done.query("SELECT * FROM gap"), [], name, "gaps")
    equal(len(done.query("SELECT * FROM batch")), plan["steps"], name, "batches")


def running(done, wholes):
    """The operations that make the GPU busy; wholes: the graphs themselves, instead of their kernels."""
    if wholes:
        return [op for op in done.ops if op.kind == "graph" or
                (op.kind == "kernel" and not op.graph)]
    return busy(done.ops)


def check_step(name, row, ops, running_ops):
    """Compares a row of gpu_step with what the fake device did between the step's begin and end."""
    begin, end = row["begin_ns"], row["begin_ns"] + row["step_ns"]
    what = "{} step {}:".format(name, row["batch"])
    true = union(running_ops, begin, end)
    near(row["gpu_busy_ns"], true, what, "busy")
    waited = row["wait_ns"] - union(running_ops, begin, begin + row["wait_ns"])
    near(row["gpu_idle_wait_ns"], waited, what, "idle while waiting for data")
    equal(row["gap_data_ns"], row["gpu_idle_wait_ns"], what, "gap_data")
    gaps = sum(row["gap_" + gap + "_ns"] for gap in ("data", "h2d", "sync", "host", "other"))
    equal(gaps, row["step_ns"] - row["gpu_busy_ns"], what, "gaps are all that is not busy")
    near(row["h2d_ns"], union(copies(ops), begin, end), what, "h2d time")
    near(row["d2h_ns"], union(copies(ops, 2), begin, end), what, "d2h time")
    collective = [op for op in running_ops if COLLECTIVE.search(op.name)]
    near(row["nccl_ns"], union(collective, begin, end), what, "collectives")
    others = [op for op in running_ops if op not in collective]
    near(row["gpu_compute_ns"], union(others, begin, end), what, "busy with more than collectives")
    equal(row["gpu_loading_ns"], 0, what, "loading")
    for column, kind in ("sync_stream_ns", 3), ("sync_event_ns", 1), ("sync_context_ns", 4):
        true = sum(min(op.end, end) - max(op.begin, begin) for op in syncs(ops, kind)
                   if op.begin < end and op.end > begin)
        near(row[column], true, what, column, slack=50_000)


def check_counts(name, row, ops, wholes):
    """Checks a step's counts. The clocks may differ by 20 us: what begins so near to its ends may count or not."""
    begin, end = row["begin_ns"], row["begin_ns"] + row["step_ns"]
    what = "{} step {}:".format(name, row["batch"])
    inside = began_in(ops, begin, end)
    edge = [op for op in ops if min(abs(op.begin - begin), abs(op.begin - end)) < 20_000]
    columns = {
        "h2d_bytes": lambda some: sum(op.bytes for op in copies(some)),
        "d2h_bytes": lambda some: sum(op.bytes for op in copies(some, 2)),
        "h2d_pageable_bytes": lambda some: sum(op.bytes for op in copies(some) if op.source == 1),
        "kernel_count": lambda some: sum(op.kind == "kernel" and not (wholes and op.graph)
                                         for op in some),
        "graph_count": lambda some: sum(wholes and op.kind == "graph" for op in some),
    }
    for column, amount in columns.items():
        check(abs(row[column] - amount(inside)) <= amount(edge), what, column, "found",
              row[column], "expected", amount(inside), "or", amount(edge), "more or less")
    return {column: (row[column], amount(inside), amount(edge))
            for column, amount in columns.items()}


def check_sums(name, counts):
    """The sums over all steps are right: what one step lacks near its end, the next step counts too much."""
    for column in counts[0]:
        found, true = (sum(count[column][i] for count in counts) for i in (0, 1))
        edge = counts[0][column][2] + counts[-1][column][2]
        check(abs(found - true) <= edge, name, "sum of", column, found, "expected", true)
    exact = sum(not any(count[column][2] for column in count) for count in counts)
    say(name, "{} of {} steps have nothing at their edges".format(exact, len(counts)))


def check_names(name, done, wholes):
    """gpu_kernel has the name, count and time of every kernel: there are too few names to leave one out."""
    seen = done.query("SELECT SUM(nccl_ns) > 0 AS seen FROM gpu_step")[0]["seen"]
    equal(seen, name in ("nccl", "nccl-old", "nccl-symmetric"), name, "collectives seen")
    found = {r["symbol"]: r for r in done.query("SELECT name, symbol, count, ns FROM gpu_kernel")}
    kernels = [op for op in busy(done.ops) if not (wholes and op.graph)]
    equal(sorted(found), sorted({op.name for op in kernels}), name, "names")
    for kernel, row in found.items():
        equal(row["name"] == kernel, not kernel.startswith("_Z"), name, "readable", row["name"])
        true = [op.end - op.begin for op in kernels if op.name == kernel]
        equal(row["count"], len(true), name, kernel, "count")
        near(row["ns"], sum(true), name, kernel, "time", share=0.001, slack=100 * len(true))


def check_case(name, plan, done):
    check_run(name, plan, done)
    wholes = bool(plan.get("graph")) and done.meta().get("gpu_busy_is_upper_bound") == "1"
    equal(wholes, name.startswith("graph"), name, "graphs are recorded as wholes")
    steps = done.query("SELECT * FROM gpu_step WHERE step_ns IS NOT NULL ORDER BY batch")
    equal(len(steps), plan["steps"], name, "steps")
    running_ops = running(done, wholes)
    for row in steps:
        check_step(name, row, done.ops, running_ops)
    check_sums(name, [check_counts(name, row, done.ops, wholes) for row in steps])
    check_names(name, done, wholes)
    # By the plan alone: the time of all kernels, those in the steps and those after the last step.
    true = sum(step["kernel_ns"] for step in done.steps)
    rest = union(running_ops, steps[-1]["begin_ns"] + steps[-1]["step_ns"]) if steps else 0
    found = sum(row["gpu_busy_ns"] for row in steps) + rest
    if plan.get("streams", 1) == 1 and not wholes and not plan.get("eval_every"):
        near(found, true, name, "busy by plan")
    say(name, "{} steps, busy {:.1f} ms".format(len(steps), found / MS))


def main():
    need_shim()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for name, (plan, done) in zip(sys.argv[1:], pool.map(record, sys.argv[1:])):
            check_case(name, plan, done)
    finish()


main()
