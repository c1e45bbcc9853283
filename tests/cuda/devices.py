# SPDX-License-Identifier: Apache-2.0
"""dlprof's numbers of each of several GPUs are right, and the steps' are those of the GPUs that the loader feeds.

usage: devices.py CASE... (see CASES; ranks). As in accuracy.py, operations are cut at dlprof's steps.
"""
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (FAKES, began_in, busy, check, copies, equal, finish, near, need_shim,  # noqa
                 plan_text, report, say, scratch, start, union)

SCATTER, FIRST, PIPELINE, THREADS = range(4)
DEVICES = os.path.join(FAKES, "devices")
SUMS = "gap_data_ns + gap_h2d_ns + gap_sync_ns + gap_host_ns + gap_other_ns"
# {name: (the plan, the devices that the loader feeds)}
CASES = {
    "two": (dict(devices=2, skew=50), (0, 1)),
    "four": (dict(devices=4, kernel=150, skew=30), (0, 1, 2, 3)),
    # The other device still works while device 0 waits for data.
    "first": (dict(devices=2, shape=FIRST, skew=400, wait_all=0), (0,)),
    "pipeline": (dict(devices=4, shape=PIPELINE, scalar=1, skew=40, wait_all=0), (0,)),
    "threads": (dict(devices=4, shape=THREADS, kernel=150, skew=30), (0, 1, 2, 3)),
}
RANKS = 4
SLOW_RANK = 2


def of(ops, device):
    return [op for op in ops if op.device == device]


def idle(ops, row):
    """Nanoseconds of the step's wait for data in which none of the operations ran."""
    return row["wait_ns"] - union(ops, row["begin_ns"], row["begin_ns"] + row["wait_ns"])


def check_batch(name, batch, devices, done, fed):
    """Checks the times of a step; returns on how many devices nothing began near its ends: those counts are exact."""
    begin, end = batch["begin_ns"], batch["begin_ns"] + batch["step_ns"]
    what = "{} step {}:".format(name, batch["batch"])
    kernels, exact = busy(done.ops), 0
    true = {d: (union(of(kernels, d), begin, end), idle(of(kernels, d), batch)) for d in devices}
    for device, row in devices.items():
        near(row["busy_ns"], true[device][0], what, device, "busy")
        near(row["idle_wait_ns"], true[device][1], what, device, "idle while waiting")
        equal(row["fed"], int(device in fed), what, device, "is fed")
        inside = began_in(of(done.ops, device), begin, end)
        edge = sum(min(abs(op.begin - begin), abs(op.begin - end)) < 20_000
                   for op in of(done.ops, device) if op.kind != "sync")
        exact += not edge
        if not edge:
            equal((row["kernel_count"], row["h2d_bytes"], row["peer_bytes"]),
                  (len(busy(inside)), sum(op.bytes for op in copies(inside)),
                   sum(op.bytes for op in inside if op.kind == "peer")), what, device, "counts")
    for column, i in ("gpu_busy_ns", 0), ("gpu_idle_wait_ns", 1):
        near(batch[column], sum(true[d][i] for d in fed) / len(fed), what, column, "of the fed ones")
    equal(batch["gaps"], batch["step_ns"] - batch["gpu_busy_ns"], what, "gaps are the rest")
    return exact


def check_case(name):
    plan, fed = CASES[name]
    count = plan["devices"]
    done = start([DEVICES, plan_text(dict(plan, steps=40))], FAKE_DEVICES=count)
    equal((done.status, done.misuse()), (0, []), name, "exit status, misuse", done.err)
    equal(done.meta().get("cuda_dropped"), "0", name, "records")
    rows = {}
    for row in done.query("SELECT * FROM gpu_device"):
        rows.setdefault(row["batch"], {})[row["device"]] = row
        equal(row["name"], "Fake GPU {0} at 0000:1{0}:00.0".format(row["device"]), name, "name")
    batches = done.query("SELECT *, {} AS gaps FROM gpu_step WHERE step_ns IS NOT NULL "
                         "ORDER BY batch".format(SUMS))
    equal(len(batches), 40, name, "batches")
    exact = sum(check_batch(name, batch, rows[batch["batch"]], done, fed) for batch in batches
                if equal(sorted(rows.get(batch["batch"], {})), list(range(count)), name, "devices"))
    check(exact >= 0.75 * count * len(batches), name, "counts of too few are compared", exact)
    # How long no device worked at all: in the cases without wait_all the fed devices idle longer than that.
    union_idle = sum(idle(busy(done.ops), b) for b in batches)
    fed_idle = sum(b["gpu_idle_wait_ns"] for b in batches)
    say("{}: idle of the fed ones {:.1f} ms, of all together {:.1f} ms, {} exact".format(
        name, fed_idle / 1e6, union_idle / 1e6, exact))
    if not plan.get("wait_all", 1):
        check(fed_idle > 1.2 * union_idle, name, "the devices work at the same time")
    check_report(name, done, rows, batches, fed)


def check_report(name, done, rows, batches, fed):
    said = report("--json", done.database)
    equal(said.status, 0, name, "report", said.err)
    gpu = json.loads(said.out)["gpu"]
    equal([(d["device"], d["fed"]) for d in gpu["devices"]],
          [(d, d in fed) for d in rows[batches[0]["batch"]]], name, "devices in JSON")
    for device in gpu["devices"]:
        own = [rows[b["batch"]][device["device"]] for b in batches]
        share = sum(r["busy_ns"] for r in own) / sum(b["step_ns"] for b in batches)
        check(abs(device["busy_share"] - share) < 0.02, name, "busy share", device, share)
        check(device["name"].startswith("Fake GPU {} at".format(device["device"])), name, device)
    text = report("-v", done.database).out
    check("By device" in text and text.count("Fake GPU") >= len(gpu["devices"]), name, text)


def run_rank(folder, rank):
    """Runs a rank as torchrun does: its process sees one device, which has the number 0 there."""
    plan = dict(devices=1, steps=60, kernels=4, kernel=500, wait=6000 if rank == SLOW_RANK else 500)
    own = os.path.join(folder, "rank{}".format(rank))
    os.mkdir(own)
    return start([DEVICES, plan_text(plan)], folder=own, FAKE_DEVICES=RANKS,
                 CUDA_VISIBLE_DEVICES=str(rank), RANK=rank, LOCAL_RANK=rank, WORLD_SIZE=RANKS,
                 DLPROF_OUT=os.path.join(folder, "runs", "{}.db".format(rank)))


def check_ranks():
    folder = scratch()
    os.mkdir(os.path.join(folder, "runs"))
    with concurrent.futures.ThreadPoolExecutor(RANKS) as pool:
        jobs = list(pool.map(lambda rank: run_rank(folder, rank), range(RANKS)))
    for rank, done in enumerate(jobs):
        equal(done.status, 0, "rank", rank, done.err)
        alone = json.loads(report("--json", os.path.join(folder, "runs", "{}.db".format(rank))).out)
        equal([d["name"] for d in alone["gpu"]["devices"]],
              ["Fake GPU {0} at 0000:1{0}:00.0".format(rank)], "the device of rank", rank)
        check(0 < alone["gpu"]["devices"][0]["busy_share"] < 1, "busy share of rank", rank)
    said = report("--json", os.path.join(folder, "runs"))
    equal(said.status, 0, "report of the folder", said.err)
    job = json.loads(said.out)
    equal(job["clock"], "gpu", "clock of the job")
    equal([(r["rank"], r["clock"], r["gpu"]) for r in job["ranks"]],
          [(r, "gpu", "Fake GPU {0} at 0000:1{0}:00.0".format(r)) for r in range(RANKS)], "ranks")
    ratios = [r["stall_ratio"] for r in job["ranks"]]
    equal(max(range(RANKS), key=lambda r: ratios[r]), SLOW_RANK, "the rank that starves", ratios)
    equal(job["ranks"][SLOW_RANK]["verdict"], "highly_input_bound", "its verdict")
    text = report(os.path.join(folder, "runs")).out
    check(all(", 0000:1{}:00.0\n".format(r) in text for r in range(RANKS)), text)
    check("the GPU's clock: waits while it was idle" in text, text)


def main():
    need_shim()
    for name in sys.argv[1:]:
        if name == "ranks":
            check_ranks()
        else:
            check_case(name)
    finish()


main()
