# SPDX-License-Identifier: Apache-2.0
"""A run whose every figure is known by hand, and what each form of the report says of it, value by value.

The figures below are sums of the timeline that training() draws, and of the constants above it. None
of them was taken from a report.
"""
import json
import math
import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import html_file
import rundb

MS = rundb.MS
S = 1000 * MS
EPOCHS, EPOCH_MS, BATCHES, CHECKS, ASIDE = 2, 10000, 60, 10, 30

# Of one load, in ms: its parts. The rest of its 300 ms is the dataset's own code.
LOAD = {"load": 300, "open": 3, "read": 60, "decode": 90, "collate": 15, "cpu": 200, "blocked": 40}
COUNTS = {"samples": 32, "open_count": 33, "read_count": 64, "read_bytes": 4000000,
          "storage_bytes": 1500000, "decode_count": 31, "decode_bytes": 3900000}
# Of one step, in ms. Of its 99 ms, 7 are left; the last of an epoch saves for 60 more.
STEP = {"before": 30, "backward": 40, "between": 2, "optimizer": 20}


def training():
    """Two workers that begin 30 ms after the epoch and load without a pause, so that two batches are finished
    every 300 ms; 10 ms later the first of them is in hand, and after its step, which takes 100 ms, the second.
    So the first is waited for 90 ms, in 80 of which it is not finished, and the second 10 ms. In an epoch's
    first pair, the first is waited for 300 ms. After the epoch, ten batches are loaded by the training itself."""
    train, check = [], []
    for epoch in range(EPOCHS):
        start = epoch * EPOCH_MS
        for i in range(BATCHES):
            pair, odd = divmod(i, 2)
            finished, hand = start + 330 + 300 * pair, start + 340 + 300 * pair + 110 * odd
            asked = hand - 10 if odd else start + 250 + 300 * pair if pair else start + 40
            # No older batch is freed after the first one.
            free = 1 if epoch or i else 0
            save = 60 if i == BATCHES - 1 else 0
            row = {"wait": hand - asked, "receive": 0.4, "sample": 2, "free": free, "transfer": 3,
                   "step": hand - asked + 100 + save, "compute": 100 - free + save, "save": save or None,
                   "ready": asked - finished if odd else 0, "hol": 0, "begin": asked, "load_begin": finished - 300}
            row.update(LOAD, **STEP)
            row = {key + "_ns": value and int(value * MS) for key, value in row.items()}
            row["begin_ns"] += rundb.START_NS
            row["load_begin_ns"] += rundb.START_NS
            row.update(COUNTS, epoch=epoch, task=i, batch=i, worker_id=odd, pid=100 + odd, head_ready=odd, qdepth=odd)
            train.append(row)
        for i in range(CHECKS):
            begin = rundb.START_NS + (start + 9365 + 50 * i) * MS
            check.append({"epoch": epoch, "task": i, "batch": i, "begin_ns": begin, "wait_ns": 20 * MS,
                          "sample_ns": 1 * MS, "compute_ns": 30 * MS, "step_ns": 50 * MS, "pid": 42,
                          "load_begin_ns": begin, "load_ns": 19 * MS})
    # A thread of its own takes these, beside the training.
    aside = [{"epoch": 0, "task": i, "batch": i, "begin_ns": rundb.START_NS + (1000 + 100 * i) * MS,
              "wait_ns": 40 * MS, "compute_ns": 60 * MS, "step_ns": 100 * MS, "pid": 42} for i in range(ASIDE)]
    return train, check, aside


def record(path):
    train, check, aside = training()
    rundb.build(path, [rundb.loader(train, workers=2, place="train.py:41 in main"),
                       rundb.loader(check, workers=0, prefetch_factor=None, batch_size=8),
                       rundb.loader(aside, kind="mine.Loader", workers=0, prefetch_factor=None, batch_size=None)],
                meta={"pid": "42", "schema": "16"}, theta=9900000, version=16)
    with sqlite3.connect(path) as database:
        for epoch in range(EPOCHS):
            begin = rundb.START_NS + epoch * EPOCH_MS * MS
            database.execute("UPDATE t_epoch SET begin_ns = ?, setup_ns = ?, sample_ns = ?, stop_begin_ns = ?,"
                             " stop_ns = ?, save_ns = ?, tid = 42 WHERE loader_id = 1 AND epoch = ?",
                             (begin, 40 * MS, 6 * MS, begin + 9310 * MS, 50 * MS, 25 * MS, epoch))
            database.execute("UPDATE t_epoch SET begin_ns = ?, setup_ns = ?, stop_begin_ns = ?, stop_ns = ?, tid = 42"
                             " WHERE loader_id = 2 AND epoch = ?",
                             (begin + 9360 * MS, 5 * MS, begin + 9865 * MS, 3 * MS, epoch))
        database.execute("UPDATE t_epoch SET begin_ns = ?, setup_ns = 0, tid = 55 WHERE loader_id = 3",
                         (rundb.START_NS + 1000 * MS,))
        add_details(database)
    return path


def add_details(database):
    for name, value in (("end_ns", rundb.START_NS + 20000 * MS), ("main_cpu_ns", 6 * S), ("main_cpu_of_ns", 16 * S),
                        ("other_cpu_ns", 2 * S), ("other_cpu_of_ns", 16 * S), ("workers_ran_ns", 20 * S),
                        ("workers_waited_ns", S // 10), ("lines", "observed")):
        database.execute("INSERT OR REPLACE INTO t_meta VALUES (?, ?)", (name, value))
    for worker in (0, 1):
        rundb.insert(database, "t_process", {"pid": 100 + worker, "start_ticks": 1, "role": "worker", "ppid": 42,
                                             "worker_id": worker, "loader_id": 1})
        rundb.insert(database, "t_use", {
            "pid": 100 + worker, "start_ticks": 1, "runnable_milli": 800 + 100 * worker, "cores_allowed": 8 - worker,
            "private_begin_bytes": 100000000 + 20000000 * worker, "private_end_bytes": 130000000 + 20000000 * worker,
            "major_faults": 3 + worker, "swapped_bytes": 4096 * (1 + worker)})
    for tid, name, seconds in ((42, "python3", 9), (43, "pt_autograd_0", 4), (44, "pin", 2)):
        rundb.insert(database, "t_thread", {"pid": 42, "tid": tid, "name": name, "cpu_ns": seconds * S})
    for row in (("decode", "libjpeg", "JPEG", 512, 3720, 10800, 468000000, 900000000, 9, 0),
                ("step", "Resize", "transform", 0, 3840, 4800, 0, 0, 25, 0),
                ("step", "Pics", "dataset", 0, 3840, 2400, 0, 0, 12, 0),
                ("file", "/data/a.bin", "", 0, 3600, 5000, 300000000, 0, 70, 100),
                ("file", "/data/b.bin", "", 0, 360, 2560, 180000000, 0, 50, 0),
                ("folder", "/data", "", 0, 3960, 7560, 480000000, 0, 70, 0),
                ("sample", "/data/a.bin", "Pics", 77, 1, 600, 0, 0, 600, 0),
                ("sample", "/data/b.bin", "Pics", 5, 1, 500, 0, 0, 500, 0),
                ("wait", "/dev/shm/lock", "lock", 0, 240, 3000, 0, 0, 30, 0),
                ("wait", "10.0.0.7:443", "socket", 0, 120, 1800, 48000000, 0, 20, 0)):
        database.execute("INSERT INTO t_total VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                         row[:5] + (row[5] * MS,) + row[6:8] + (row[8] * MS, row[9] * MS))
    database.executemany("INSERT INTO t_unlisted VALUES (?, ?)", (("file", 50 * MS), ("folder", 20 * MS)))
    for number, task, size in ((1, 0, 1900000), (1, 16, 2100000), (2, 0, 100000)):
        rundb.insert(database, "t_made", {"loader_id": number, "epoch": 0, "task": task, "tensor_count": 2,
                                          "batch_bytes": size, "object_count": 7})
    rundb.insert(database, "t_slow", {"ts_ns": rundb.START_NS + 100 * MS, "pid": 100, "tid": 100, "class": "read",
                                      "what": "read /data/a.bin", "ns": 70 * MS})
    rundb.insert_lines(database, [
        ("worker", 1, "load", [("/p/data.py", "get", 12), ("/p/data.py", "load", 7)], 60),
        ("worker", 1, "load", [("/p/data.py", "load", 8)], 40),
        ("main", 1, "step", [("/p/train.py", "step", 44)], 50)])


# What JSON says. Times of the account, in ms: from the first batch in hand, at 340, to the end of the last
# step, at 19865. Not ready: 80 in each of 58 steady pairs, 19 in each of 20 batches of the other loader.
TIME, STEADY, PAIRS = 19865 - 340, 116, 58
NOT_READY, RECEIVING = 80 * PAIRS + 19 * 20, (10 - 2 + 1) * STEADY
SAMPLING, EPOCH_END = 2 * STEADY + 1 * 20, 50 + 50 + 3
# The run's second wait; what belongs to the second epoch; two iterators of the other loader.
EPOCH_START = 11 + (40 + 301 + 11) + 2 * 5
WAIT = NOT_READY + RECEIVING + SAMPLING + EPOCH_START + EPOCH_END
STEPS = TIME - WAIT
COMPUTE = 100 + 119 * 99 + 2 * 60
STEADY_COMPUTE = STEADY * 99 + 2 * 60
STEADY_TIME = STEADY_COMPUTE + PAIRS * (91 + 11)
# A batch of the other loader takes 19 ms to load. Their loads are in the run's, but not in the judged loader's.
LOADS = 300 * 120
ALL_LOADS = LOADS + 19 * 20
SAVES = 2 * 60 + 2 * 25
# Neither a step, nor the other loader's steps, nor saving between epochs.
GAPS = STEPS - COMPUTE - 600 - 2 * 25
PARTS = {name: ms * 120 for name, ms in STEP.items()}
NONE = None


def per_s(ms):
    return 120 / ms * 1000


def part_of(whole, **parts):
    return {name: ms / whole for name, ms in parts.items()}


def no_period(events, **more):
    return dict({"batches": NONE, "p": NONE, "share": NONE, "phase": NONE, "drifting": False, "modulated": False,
                 "modulated_batches": NONE, "cost_s": NONE, "events": events}, **more)


def path_row(path, count, ms, size, slowest_ms, error_ms):
    return {"path": path, "count": count, "time_s": ms / 1e3, "bytes": size, "slowest_s": slowest_ms / 1e3,
            "error_s": error_ms / 1e3}


def line(phase, role, file, number, function, share, samples):
    return {"phase": phase, "role": role, "file": file, "line": number, "function": function, "share": share,
            "samples": samples}


EXPECTED = {
    "schema": "dlprof.report/3",
    "run": {"id": "box-42-17f", "command": "python3 train.py --epochs 3", "host": "box",
            "start": "2025-12-17T19:33:20Z", "duration_s": 20, "ranks": 1, "frameworks": ["torch"],
            "version": "0.1.0", "kernel": "6.1.0", "processes": 3, "live": False, "stopped_after": NONE,
            "set": {"asked": NONE, "done": [], "samples": NONE},
            "end": {"status": NONE, "signal": NONE, "killed_workers": 0, "workers": NONE, "program": NONE}},
    "clock": "host", "verdict": "highly_input_bound", "incomplete_reason": NONE, "starved": True,
    "cause": "loader_capacity", "confidence": "medium",
    "stall": dict(part_of(TIME, not_ready=NOT_READY, receiving=RECEIVING, sampling=SAMPLING,
                          epoch_start=EPOCH_START, epoch_end=EPOCH_END),
                  ratio=WAIT / TIME, in_doubt=False, trimmed_ratio=(WAIT - 91) / TIME, wait_s=WAIT / 1e3,
                  time_s=TIME / 1e3, startup_s=0.34, theta_s=0.0099, batches=120, steady_batches=116,
                  starved_batches=58, masked_share=1 - 91 * PAIRS / (300 * STEADY), gain_max=TIME / STEPS,
                  gain_alone=TIME / STEPS, wait_p50_s=0.011, wait_p99_s=0.3, compute_p50_s=0.099,
                  compute_p99_s=0.159, drain_ratio=NONE, queued_share=0),
    "period": no_period(58, batches=2, share=1, phase=0, cost_s=91 * PAIRS / 1e3, of="stalls", timer_s=NONE),
    "compute_period": no_period(2, timer_s=NONE), "load_period": no_period(0),
    "slow_worker": NONE, "slow_workers": [],
    "causes": [{"id": name, "s": ms / 1e3, "share": ms / TIME} for name, ms in
               (("loader_capacity", 80 * PAIRS), ("delivery", RECEIVING), ("epoch_start", EPOCH_START + EPOCH_END),
                ("sampler", SAMPLING))],
    "workers": {"count": 2, "loading": 2, "prefetch_factor": 2, "in_order": True, "load_mean_s": 0.3, "load_cv": 0,
                "rho": 300 / 2 / (STEADY_COMPUTE / STEADY), "eta": STEADY / STEADY_TIME / (2 / 300), "needed": 3,
                "cores": 8, "main_cores": 6 / 16, "other_cores": 2 / 16, "persistent": False,
                "cpu_share": 200 * STEADY / STEADY_TIME / (8 - 2 / 16), "threads": 0.85, "cores_allowed": 7},
    "breakdown": {"open_s": 0.36, "read_s": 7.2, "decode_s": 10.8, "collate_s": 1.8, "other_cpu_s": 11.04,
                  "other_blocked_s": 4.8, "transfer_s": 0.36, "queue_s": 110 * 60 / 1e3, "h2d_s": NONE,
                  "compute_s": COMPUTE / 1e3, "wait_s": (2 * 300 + PAIRS * 90 + 60 * 10 + 119) / 1e3, "loads": 120,
                  "load_s": 36, "other_s": 132 * 120 / 1e3, "waits_s": 4.8, "cpu_s": 24, "receive_s": 0.048,
                  "head_of_line_s": 0, "open_count": 3960, "read_count": 7680, "read_bytes": 480000000,
                  "storage_bytes": 180000000, "samples": 3840},
    "load": dict(part_of(ALL_LOADS, lock_share=3000, socket_share=1800, no_core_share=200 * 120 / 200),
                 mean_s=0.3, cpu_share=200 / 300, storage_share=63 / 300, asleep_share=0, thread_share=0,
                 pipe_share=0, write_share=0, program_share=0, sync_share=0, fault_share=0, other_share=0,
                 peers=[{"kind": "lock", "name": "/dev/shm/lock", "s": 3, "bytes": 0, "count": 240},
                        {"kind": "socket", "name": "10.0.0.7:443", "s": 1.8, "bytes": 48000000, "count": 120}],
                 tensors=2, batch_bytes=2000000, read_per_byte=2, inflated_per_byte=NONE, loads_per_batch=NONE,
                 received_per_byte=48 / (2 * 120 + 0.1 * 20), opens_per_sample=33 / 32,
                 parts=[{"name": name, "kind": kind, "share": ms / ALL_LOADS} for name, kind, ms in
                        (("JPEG, libjpeg", "decode", 10800), ("read", "storage", 7200),
                         ("Resize", "transform", 4800), ("sleeping", "or in locks, queues", 4800),
                         ("Pics", "dataset", 2400), ("collate", NONE, 1800), ("open", "storage", 360))],
                 samples=[{"name": "Pics[77]", "s": 0.6, "file": "/data/a.bin"},
                          {"name": "Pics[5]", "s": 0.5, "file": "/data/b.bin"}], trend=NONE),
    "stages": NONE,
    "step": dict(part_of(STEPS, save=SAVES, other_loops=600, after=STEPS - sum(PARTS.values()) - SAVES - 600,
                         between_epochs=GAPS, **PARTS), mean_s=COMPUTE / 120 / 1e3, trend=NONE, sync=NONE),
    "memory": {"private_begin_bytes": 110000000, "private_end_bytes": 140000000, "major_faults": 7,
               "swapped_bytes": 3 * 4096},
    "threads": [{"name": "pt_autograd_0", "cpu_s": 4}, {"name": "pin", "cpu_s": 2}], "main_thread_cpu_s": 9,
    "steps": [{"name": "Resize", "kind": "transform", "count": 3840, "time_s": 4.8, "slowest_s": 0.025},
              {"name": "Pics", "kind": "dataset", "count": 3840, "time_s": 2.4, "slowest_s": 0.012}],
    "decoders": [{"library": "libjpeg", "format": "JPEG", "width_class": 512, "count": 3720, "time_s": 10.8,
                  "bytes": 468000000, "pixels": 900000000, "made_bytes": NONE, "slowest_s": 0.009}],
    "samples": [{"path": "/data/a.bin", "dataset": "Pics", "sample": 77, "time_s": 0.6},
                {"path": "/data/b.bin", "dataset": "Pics", "sample": 5, "time_s": 0.5}],
    "slow": [{"what": "read /data/a.bin", "time_s": 0.07, "stack": NONE}],
    "files": [path_row("/data/a.bin", 3600, 5000, 300000000, 70, 100),
              path_row("/data/b.bin", 360, 2560, 180000000, 50, 0)],
    "folders": [path_row("/data", 3960, 7560, 480000000, 70, 0)],
    "files_unlisted_s": 0.05, "folders_unlisted_s": 0.02,
    "lines": [line("load", "worker", "/p/data.py", 12, "get", 0.6, 60),
              line("load", "worker", "/p/data.py", 8, "load", 0.4, 40),
              line("step", "main", "/p/train.py", 44, "step", 1, 50)],
    "stuck": [], "gpu": NONE,
    "coverage": {"patch_points_missing": [], "decoders_seen": NONE, "decoders_hidden": NONE, "wait_observed": True,
                 "compute_observed": True, "workers_observed": True, "decode_observed": True, "nvtx": NONE,
                 "gpu_observed": False, "gpu_share": 0, "gpu_batches_left_out": 0, "gpu_records": NONE,
                 "gpu_records_bad": NONE, "gpu_records_dropped": NONE, "gpu_records_dropped_by_us": NONE, "host_memsets": NONE, "host_peer_bytes": NONE,
                 "gpu_gaps": 0, "gpu_gaps_s": 0, "gpu_gap_why": NONE, "cupti_version": NONE, "gpu_shared": NONE,
                 "loads_share": 1, "readiness_share": 1, "warnings": []},
    "loss": {"events": 0, "batches": 0, "share": 0}, "overhead": NONE,
    "ranks": [{"rank": 0, "host": "box", "verdict": "highly_input_bound", "stall_ratio": WAIT / TIME, "batches": 120}],
    "loaders": [{"loader": 1, "judged": True, "kind": "torch.DataLoader", "workers": 2, "batch_size": 32,
                 "batches": 120, "epochs": 2, "time_s": (6539 - 119 + COMPUTE) / 1e3},
                {"loader": 3, "judged": False, "kind": "mine.Loader", "workers": 0, "batch_size": NONE,
                 "batches": 30, "epochs": 1, "time_s": 3},
                {"loader": 2, "judged": False, "kind": "torch.DataLoader", "workers": 0, "batch_size": 8,
                 "batches": 20, "epochs": 2, "time_s": 1}],
}
# Chances and intervals are no sums; test_boot.c, test_period.c and test_lines.c have them. `path` is this test's.
ELSEWHERE = {"path", "p", "ci95", "error"}


def compare(found, expected, where):
    """Compares value by value; a number may be off by the last of the digits that JSON has."""
    if isinstance(found, dict) and isinstance(expected, dict):
        t.equal(sorted(set(found) - ELSEWHERE), sorted(set(expected) - ELSEWHERE), where, "keys")
        for key in (set(found) & set(expected)) - ELSEWHERE:
            compare(found[key], expected[key], where + "." + key)
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for i, both in enumerate(zip(found, expected)):
            compare(*both, "{}[{}]".format(where, i))
    elif isinstance(expected, float) and isinstance(found, (int, float)):
        t.check(math.isclose(found, expected, rel_tol=2e-8), where, "is", found, "and not", expected)
    else:
        t.equal(found, expected, where)


# How long the same training takes with another setting. Every batch has 100 ms of step and 10 ms until it is in hand;
# if no other one is waited for, an epoch's 59 batches after its first take 6490 ms, not 8810.
WITH = {"baseline": TIME, "prefetch_x4": TIME, "in_order_false": TIME, "synthetic": STEPS,
        "load_x0.5": TIME - 2 * 2320 - 150, "workers_x2": TIME - 2 * 2320, "more_workers": TIME - 2 * 2320,
        "persistent": TIME - 50 - 40, "sampling": TIME - 6 - 2, "delivery": TIME - 10 - 8}


def check_predictions(found):
    """What a replay predicts is what the timeline would be, within half a percent: more workers take longer
    to start, workers that stay take some time, too."""
    rows = {row["id"]: row for row in found["whatif"]}
    t.equal(sorted(rows), sorted(WITH), "predictions")
    for name, ms in WITH.items():
        row, exact = rows[name], name in ("baseline", "synthetic", "prefetch_x4", "in_order_false")
        for key, value in (("batches_per_s", per_s(ms)), ("gain", TIME / ms - 1), ("stall_ratio", 1 - STEPS / ms)):
            t.check(abs(row[key] - value) < (1e-7 if exact else 0.006) * max(value, 1), name, key, row[key], value)
        low, high = row["ci95"]
        t.check(low < row["batches_per_s"] <= high, name, row)
    t.check(WITH["workers_x2"] / TIME < rows["baseline"]["batches_per_s"] / rows["more_workers"]["batches_per_s"] <
            rows["baseline"]["batches_per_s"] / rows["workers_x2"]["batches_per_s"], "starting takes time", rows)
    t.equal(rows["more_workers"]["workers"], 3, "needed: two finish 6.67 batches/s, three 10, and ten are taken")
    first = found["advice"][0]
    t.equal((first["id"], first["text"], first["how"], first["whatif"], first["gain"], first["at_most"]),
            ("more_loader_capacity", "Use more workers, 3 in all.", "num_workers=3.", "more_workers",
             rows["more_workers"]["gain"], False), "the first step")
    t.equal([row["id"] for row in found["not_useful"]], ["prefetch_x4", "in_order_false", "persistent"], "no help")


# Rows of -v, without what they say after the numbers.
ROWS = """
140 batches of several loaders, 20.0 s
HIGHLY INPUT-BOUND 35 % of the time
1.53x as fast
not ready 26 % ▓ receiving 5 % ▚ sampling 1 % ▒ epoch start 2 % ░ end 1 % · step 65 %
Load 300 ms; of all loaders: libjpeg 30 %, read 20 %, Resize 13 %, a shared lock 8.2 %, the rest 12 %
Step 100 ms: before backward 30 %, backward 40 %, between 2.0 %
optimizer 20 %, saving 1.4 %, after 7.0 %; other loops 600 ms in all
Which loader 1 of 3 (train.py:41 in main): its waits are 32 % of the time
2 workers load 6.67 batches/s, this loop would take 10.
Line get, data.py:12, takes 60 % (\u00b1 10) of a load
1. Use more workers, 3 in all: about 1.31x
No prefetch_factor 1.00x, in_order=False 1.00x, persistent workers 1.00x
every 2 batches, as many as workers
Sure medium: 140 batches, nothing lost
The account of 19.5 s of training
waiting 6.79 s 35 %
not ready 5.02 s 26 %
receiving 1.04 s 5 %
sampling 252 ms 1 %
epoch start 373 ms 2 %
epoch end 103 ms 1 %
step 12.7 s 65 %
start-up 340 ms
The steps of 12.7 s
before backward 3.60 s 28 %
backward 4.80 s 38 %
between 240 ms 1.9 %
optimizer 2.40 s 19 %
saving 170 ms 1.3 %
other loops 600 ms 4.7 %
after 841 ms 6.6 %
between epochs 82.0 ms 0.6 %
Waits 11.0 ms in the median, 300 ms at 99 %
Steps 99.0 ms in the median, 159 ms at 99 %
Starved 58 of 116 steady batches: not ready, and waited for 9.90 ms or more
Sampling choosing the samples 1.81 ms a batch
One load takes 300 ms on average
open 3.00 ms 1.0 % 33 calls
read 60.0 ms 20 % 4.00 MB in 64 calls
decode 90.0 ms 30 %
collate 15.0 ms 5.0 %
other 132 ms 44 %
blocked 40.0 ms 13 %
CPU 200 ms 67 %
hand-over 3.00 ms
in queue 55.0 ms
Storage 1.50 MB a batch
Blocked lock 8.2 %, socket 4.9 %
lock /dev/shm/lock: 8.2 % of the time, 240 waits
socket 10.0.0.7:443: 4.9 % of the time, 120 waits, 48.0 MB
Batch 2 tensors, 2.00 MB
2 bytes for each byte of a batch
36.4 s in all
JPEG, libjpeg 30 % 10.8 s 3,720 2.90 ms decode
read 20 % 7.20 s storage
Resize 13 % 4.80 s 3,840 1.25 ms transform
Pics 6.6 % 2.40 s 3,840 625 us dataset
collate 4.9 % 1.80 s
open 1.0 % 360 ms storage
JPEG, libjpeg to 512 px 3,720 2.90 ms 83 Mpixel/s 126 kB 10.8 s
Pics[77] 600 ms /data/a.bin
Pics[5] 500 ms /data/b.bin
others took at most 50.0 ms each
4.90 s to 5.00 s 70.0 ms 3,600 300 MB /data/a.bin
2.56 s 50.0 ms 360 180 MB /data/b.bin
others took at most 20.0 ms each
7.56 s 70.0 ms 3,960 480 MB /data/
70.0 ms read /data/a.bin
by 100 samples
get, data.py:12
load, data.py:8
by 50 samples
step, train.py:44
stalls every 2 batches, as many as workers: 5.28 s, 100 %
as it was 6.146
an ideal loader 9.424
+53 % 0 %
2 workers, prefetch_factor 2, in order, new workers every epoch, batch size 32
0.8 threads of a worker
it may use 7 cores
110 MB after its first load, 140 MB at last
12.3 kB of the memory
pt_autograd_0 4.00 s, pin 2.00 s
loader 2: torch.DataLoader, 0 workers, batch size 8, 20 batches in 1.00 s
how 120 of 120 batches were loaded; 3,960 opens of files; 7,680 reads of files; decoding; lines of code
for 100 % of the steady batches
Begun 2025-12-17 19:33:20 UTC
Cores 8
Processes 3
"""


def check_rows(rows, path):
    text = re.sub(r"\s+", " ", t.run([t.REPORT, "-v", path], env=t.environment(preload=False, LC_ALL="C.UTF-8")).out)
    at = 0
    for row in rows.strip().splitlines():
        found = text.find(" " + row, at)
        t.check(found >= 0, "-v lacks, or has in another order:", row, text[at:at + 300])
        at = found + 1 if found >= 0 else at


def check_json(path):
    result = t.report("--json", path)
    t.equal((result.status, result.err), (0, ""))
    found = json.loads(result.out)
    predicted = {key: found.pop(key) for key in ("whatif", "advice", "not_useful")}
    for row in found["files"] + found["folders"]:
        t.check(row["path"] in ("/data/a.bin", "/data/b.bin", "/data"), row)
    compare(found, EXPECTED, "JSON")
    return predicted


def check_loader(path):
    """Chosen by --loader, it is judged alone: by its own waits, steps and saves."""
    found = json.loads(t.report("--json", "--loader", "1", path).out)
    wait = 80 * PAIRS + RECEIVING + 2 * STEADY + 11 + 352 + 50
    whole = wait + COMPUTE
    t.equal((found["stall"]["wait_s"], found["stall"]["time_s"]), (wait / 1e3, whole / 1e3), "--loader")
    after = COMPUTE - sum(PARTS.values()) - 2 * 60
    compare({key: found["step"][key] for key in step_part_keys()},
            part_of(COMPUTE, save=2 * 60, other_loops=0.0, after=after, **PARTS), "--loader 1")


def step_part_keys():
    return list(STEP) + ["save", "other_loops", "after"]


def check_html(path):
    """Each of the page's two stretches of the run has its batches, in order, with their times."""
    page = html_file.check_page(path, "figures")[0]
    stretches = []
    for table in page.all("table"):
        rows = [[html_file.words_of(cell) for cell in row["inside"]]
                for body in table["inside"] for row in body["inside"]]
        if rows[0] == ["Epoch", "Batch", "Worker", "Load", "Wait", "Step"]:
            stretches.append(rows[1:])
    t.equal(len(stretches), 2, "stretches")
    for rows in stretches:
        first = 60 * int(rows[0][0]) + int(rows[0][1])
        t.equal(len(rows), 24, "batches")
        for i, row in enumerate(rows, first):
            pair = ["0", "1"][i % 2], ["90.0 ms", "10.0 ms"][i % 2] if i % 60 else "300 ms"
            step = "159 ms" if i % 60 == 59 else "100 ms" if not i else "99.0 ms"
            t.equal(row, [str(i // 60), str(i % 60), pair[0], "300 ms", pair[1], step], "stretch")
    check_lanes(page)


# The same loader alone, with a GPU. Of each wait it idles all but 20 ms (of 10 ms: 6); then this many ms for other
# reasons, 60 more for the host while it saves. It is busy the rest of the step.
IDLE = {"h2d": 3, "sync": 2, "host": 6, "other": 1}
ON_GPU = {"kernel_count": 30, "graph_count": 2, "memset_ns": 0.5, "d2h_ns": 0.25, "d2h_bytes": 64,
          "h2d_pageable_bytes": 4000000, "nccl_ns": 8, "gpu_loading_ns": 3, "sync_event_ns": 1, "sync_stream_ns": 2,
          "sync_context_ns": 0.5}
IDLE_PARTS = {"before": 1, "backward": 0.5, "between": 0.25, "optimizer": 1.25, "after": 6}
LAUNCHED = {"before": 25, "backward": 35, "between": 1.5, "optimizer": 12, "after": 2}
CALLS = {"sync": 2.5, "copy": 1.5, "launch": 4, "launch_count": 32, "other_sync": 0.75, "other_copy": 0.5,
         "other_launch": 3, "other_launch_count": 24}


def ns_of(values):
    return {name: int(value * MS) if name.endswith("_ns") else value for name, value in values.items()}


def record_gpu(path):
    train, tables = training()[0], {"t_gpu_step": [], "t_gpu_part": [], "t_gpu_call": []}
    for row in train:
        wait = row["wait_ns"] // MS
        idle = dict(IDLE, data=wait - (20 if wait > 10 else 6))
        idle["host"] += 60 if row["save_ns"] else 0
        busy = row["step_ns"] // MS - sum(idle.values())
        row.update(gpu_busy_ns=busy * MS, gpu_idle_wait_ns=idle["data"] * MS, h2d_ns=4 * MS, h2d_bytes=16000000)
        key = {"loader_id": 1, "epoch": row["epoch"], "task": row["task"]}
        tables["t_gpu_step"].append(dict(key, gpu_compute_ns=(busy - 5) * MS, **ns_of(ON_GPU), **ns_of(
            {"gap_{}_ns".format(name): ms for name, ms in idle.items()})))
        tables["t_gpu_part"].append(dict(key, refill_ns=MS // 2, **ns_of(
            {"{}_{}_ns".format(what, name): ms for what, parts in (("idle", IDLE_PARTS), ("launched", LAUNCHED))
             for name, ms in parts.items()})))
        tables["t_gpu_call"].append(dict(key, **ns_of(
            {name + ("" if "count" in name else "_ns"): value for name, value in CALLS.items()})))
    rundb.build(path, [rundb.loader(train, workers=2)], version=16, theta=9900000, meta={
        "schema": "16", "clock": "gpu", "gpu": "NVIDIA H200", "cuda_mode": "cupti", "cuda_level": "api",
        "cuda_records": "7000", "cuda_memsets": "11", "cuda_peer_bytes": "64", "cuda_bad_ts": "3", "cuda_dropped": "2", "cuda_own_drop": "1", "cupti_version": "26",
        "pid": "42"})
    with sqlite3.connect(path) as database:
        for table, rows in tables.items():
            for row in rows:
                rundb.insert(database, table, row)
        for epoch in range(EPOCHS):
            begin = rundb.START_NS + epoch * EPOCH_MS * MS
            database.execute("UPDATE t_epoch SET begin_ns = ?, setup_ns = ?, stop_begin_ns = ?, stop_ns = ?, tid = 42"
                             " WHERE epoch = ?", (begin, 40 * MS, begin + 9310 * MS, 50 * MS, epoch))
        for name, class_, count, ms, slowest, error in (("gemm", 1, 2400, 9000, 9, 0),
                                                        ("relu", 2, 1200, 1500, 2, 100)):
            database.execute("INSERT INTO t_total VALUES ('kernel', ?, '', ?, ?, ?, 0, 0, ?, ?)",
                             (name, class_, count, ms * MS, slowest * MS, error * MS))
            database.execute("INSERT INTO t_kernel VALUES (?, ?, ?)", (class_, "_Z" + name, name))
        database.execute("INSERT INTO t_gap VALUES (?, ?, 'another profiler', 42)",
                         (rundb.START_NS + 500 * MS, rundb.START_NS + 750 * MS))
    return path


# Its waits are those in which the GPU idled, divided as the host's: of 91 ms, 9 are receiving, 2 sampling.
GPU_TIME = 2 * 9310 + 50 + 640 - 340
GPU_STEADY = {"not_ready": PAIRS * 70 * 80 / 91, "receiving": PAIRS * (70 * 9 / 91 + 4 * 9 / 11),
              "sampling": PAIRS * (70 * 2 / 91 + 4 * 2 / 11)}
GPU_WAIT = PAIRS * (70 + 4) + (4 + 40 + 280 + 4) + 50
GPU_STEPS = COMPUTE + 2 * 300 + PAIRS * 90 + 60 * 10 + 119
GPU_BUSY, GPU_DATA = 60 * (108 + 94), PAIRS * 70 + 2 * 280 + 60 * 4
GPU_LACK = (IDLE["sync"] + IDLE["host"] + IDLE["other"]) * 120 + 120
GPU_EXPECTED = {
    "stall": dict({key: ms / GPU_TIME for key, ms in GPU_STEADY.items()}, ratio=GPU_WAIT / GPU_TIME,
                  epoch_start=328 / GPU_TIME, epoch_end=50 / GPU_TIME, in_doubt=False,
                  trimmed_ratio=(GPU_WAIT - 70) / GPU_TIME, wait_s=GPU_WAIT / 1e3, time_s=GPU_TIME / 1e3,
                  startup_s=0.34, theta_s=0.0099, batches=120, steady_batches=116, starved_batches=58,
                  masked_share=1 - 70 * PAIRS / (300 * STEADY), gain_max=GPU_TIME / (GPU_TIME - GPU_WAIT),
                  gain_alone=GPU_TIME / (GPU_TIME - GPU_WAIT), wait_p50_s=0.011, wait_p99_s=0.3,
                  compute_p50_s=0.099, compute_p99_s=0.159, drain_ratio=NONE, queued_share=0),
    "gpu": dict(
        {"device": "NVIDIA H200", "mode": "cupti", "reason": NONE, "level": "api", "level_reason": NONE,
         "batches": 120, "steps_s": GPU_STEPS / 1e3, "busy_s": GPU_BUSY / 1e3, "busy_share": GPU_BUSY / GPU_STEPS,
         "busy_is_upper_bound": False, "idle_share": 1 - GPU_BUSY / GPU_STEPS, "lack": NONE,
         "lack_share": GPU_LACK / GPU_STEPS, "lack_part": NONE, "refill_s": 0.06, "collectives_s": 0.96,
         "collectives_alone_s": 0.6, "collectives_alone_share": 600 / GPU_STEPS,
         "busy_without_collectives_s": (GPU_BUSY - 600) / 1e3, "loading_s": 0.36, "kernels_per_step": 30,
         "graphs_per_step": 2, "h2d_s": 0.48, "h2d_bytes": 1920000000, "h2d_bytes_per_s": 4e9,
         "h2d_pageable_share": 0.25, "h2d_overlap_share_most": 0.25, "d2h_s": 0.03, "d2h_bytes": 7680,
         "memset_s": 0.06, "sync": {"event_s": 0.12, "stream_s": 0.24, "context_s": 0.06}, "devices": []},
        idle={"data_s": GPU_DATA / 1e3, "h2d_s": 0.36, "sync_s": 0.24, "host_s": 0.84, "other_s": 0.12,
              "unattributed_s": 0.0},
        parts=[{"name": name, "idle_s": ms * 0.12, "launched_s": LAUNCHED[name] * 0.12}
               for name, ms in IDLE_PARTS.items()],
        calls={"batches": 120, "training_sync_s": 0.3, "training_copy_s": 0.18, "training_launch_s": 0.48,
               "training_launches_per_step": 32, "others_sync_s": 0.09, "others_copy_s": 0.06,
               "others_launch_s": 0.36, "others_launches_per_step": 24},
        kernels=[{"name": "gemm", "count": 2400, "time_s": 9, "slowest_s": 0.009, "error_s": 0},
                 {"name": "relu", "count": 1200, "time_s": 1.5, "slowest_s": 0.002, "error_s": 0.1}]),
    "coverage": dict(EXPECTED["coverage"], gpu_observed=True, gpu_share=1, gpu_records=7000, gpu_records_bad=3, host_memsets=11, host_peer_bytes=64,
                     gpu_records_dropped=2, gpu_records_dropped_by_us=1, gpu_gaps=1, gpu_gaps_s=0.25,
                     gpu_gap_why="another profiler", cupti_version=26),
    "step": dict(part_of(COMPUTE, save=120, other_loops=0.0, after=COMPUTE - sum(PARTS.values()) - 120, sync=300,
                         between_epochs=0, **PARTS), mean_s=COMPUTE / 120 / 1e3, trend=NONE),
}
GPU_ROWS = """
HIGHLY INPUT-BOUND the GPU is idle 25 % of the time
1.33x as fast
waiting 4.67 s 25 %
not ready 3.57 s 19 %
receiving 591 ms 3 %
sampling 131 ms 1 %
epoch start 328 ms 2 %
epoch end 50.0 ms 0.3 %
step 14.3 s 75 %
start-up 340 ms
the host waited 1.68 s while the GPU had work
The GPU (NVIDIA H200), in 120 steps
busy 12.1 s 65 %
computing 11.5 s 62 %
collectives 600 ms 3.2 %
loading 360 ms 1.9 %
data 4.86 s 26 %
copies 360 ms 1.9 %
sync 240 ms 1.3 %
host 840 ms 4.5 %
other 120 ms 0.6 %
refilling 60.0 ms 0.3 %
before 120 ms 3.00 s
backward 60.0 ms 4.20 s
between 30.0 ms 180 ms
optimizer 150 ms 1.44 s
after 720 ms 240 ms
to the GPU 480 ms 1.92 GB, 4.00 GB/s, 25 % from pageable memory, at most 25 %
from the GPU 30.0 ms 7.68 kB
memset 60.0 ms
host in sync 420 ms all threads: for 120 ms event, 240 ms stream, 60.0 ms context
launches 30 kernels and 2 graphs a step
in sync 300 ms 1.6 %
in copies 180 ms 1.0 %
launching 480 ms 2.6 % the training thread, 32 calls a step
others 510 ms all other threads: 90.0 ms in sync, 60.0 ms in copies, 24 launches a step
9.00 s 2,400 3.75 ms gemm
1.50 s 1,200 1.25 ms relu
stalls every 2 batches, as many as workers: 4.06 s, 100 %
the training would take 8.77
CUPTI 26 gave 7,000 records
no records for 250 ms in 1 gap: another profiler
3 of 7,000 records
2 records were dropped by CUPTI, 1 by dlprof
"""


def check_gpu(path):
    found = json.loads(t.report("--json", path).out)
    t.check(abs(found["gpu"]["idle"].pop("unattributed_s")) < 1e-9, "idle time that no row has")
    found["gpu"]["idle"]["unattributed_s"] = 0
    compare({key: found[key] for key in GPU_EXPECTED}, GPU_EXPECTED, "GPU")
    workers, rows = found["workers"], {row["id"]: row for row in found["whatif"]}
    # A step keeps the GPU for 21 or 7 ms of the wait before it.
    t.check(abs(workers["rho"] - 150 / (STEADY_COMPUTE / STEADY + 14)) < 1e-7, workers)
    for name, ms in (("baseline", GPU_TIME), ("synthetic", GPU_TIME - GPU_WAIT)):
        t.check(abs(rows[name]["batches_per_s"] / per_s(ms) - 1) < 1e-7, name, rows[name])
    check_rows(GPU_ROWS, path)


def number(element, name):
    return float(element["attrs"][name])


def check_lanes(page):
    """Each bar of the stretches lies where the axis has its time, beside the name of what did it."""
    train = training()[0]
    lanes = [svg for svg in page.all("svg") if svg["attrs"].get("class") == "plot lanes"]
    t.equal(len(lanes), 2, "drawings")
    for svg in lanes:
        inside = list(html_file.inside(svg))
        names = {e["text"]: number(e, "y") for e in inside
                 if e["tag"] == "text" and re.match("training|worker", e["text"])}
        t.equal(sorted(names), ["training", "worker 0", "worker 1"], "names")
        ticks = {e["text"]: number(e, "x") for e in inside if e["tag"] == "text" and e["text"] in ("0", "1")
                 and e["attrs"].get("text-anchor") == "middle"}
        each = ticks["1"] - ticks["0"]
        bars = [(e, re.match(r"batch (\d+): ", html_file.words_of(e)).group(1)) for e in inside if e["tag"] == "rect"]
        first, seen, sizes = int(bars[0][1]), [], {}
        begin = train[first]["begin_ns"]
        end = max(row["begin_ns"] + row["wait_ns"] + row["compute_ns"] for row in train[first:first + 24]) - begin
        for bar, batch in bars:
            row = train[int(batch)]
            kind = bar["attrs"]["class"]
            from_ns = {"wait": row["begin_ns"], "compute": row["begin_ns"] + row["wait_ns"],
                       "load": row["load_begin_ns"]}[kind]
            left, right = number(bar, "x"), number(bar, "x") + number(bar, "width")
            begins = ticks["0"] + max(from_ns - begin, 0) / S * each
            ends = ticks["0"] + min(from_ns + row[kind + "_ns"] - begin, end) / S * each
            t.check(abs(left - begins) < 0.5 and abs(right + 0.5 - ends) < 0.5, kind, batch, left, right, begins, ends)
            row_of = "training" if kind != "load" else "worker {}".format(row["worker_id"])
            sizes.setdefault(row_of, set()).add((number(bar, "y"), number(bar, "y") + number(bar, "height")))
            seen.append(kind)
        rows = sorted((top, names[name], bottom) for name, found in sizes.items() for top, bottom in found)
        t.check(len(rows) == 3 and sorted(sum(rows, ())) == list(sum(rows, ())), "bars beside names, rows apart", rows)
        t.equal([seen.count(kind) for kind in ("wait", "compute", "load")], [24, 24, 26], "bars")


def check_export(path):
    """A view is exported with all of its rows, as the database has them; times are seconds."""
    def cell(name, value):
        if value is None:
            return ""
        return "{}.{:09d}".format(*divmod(value, S)) if name.endswith("_ns") else str(value)

    with sqlite3.connect(path) as database:
        for view in ("epoch", "loader", "batch"):
            cursor = database.execute("SELECT * FROM " + view)
            names = [column[0] for column in cursor.description]
            rows = [[cell(name, value) for name, value in zip(names, row)] for row in cursor]
            result = t.report("export", "--view", view, path)
            t.equal((result.status, result.err), (0, ""), view)
            found = [line.split(",") for line in result.out.splitlines()]
            t.equal(found[0], [re.sub("_ns$", "_s", name) for name in names], view)
            t.check(sorted(found[1:]) == sorted(rows), view, "has other rows")


def main():
    folder = t.scratch()
    path = record(os.path.join(folder, "figures.db"))
    check_predictions(check_json(path))
    check_rows(ROWS, path)
    check_loader(path)
    check_html(path)
    check_export(path)
    check_gpu(record_gpu(os.path.join(folder, "gpu.db")))
    t.finish()


if __name__ == "__main__":
    main()
