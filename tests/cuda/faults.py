# SPDX-License-Identifier: Apache-2.0
"""dlprof stays right when CUPTI's records are impossible, lost, cut off, or many thousands a second.

usage: faults.py
"""
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (MS, blocked, busy, check, equal, finish, loop, near, need_shim,  # noqa
                 report, say, syncs, union)

PLAN = dict(steps=40, wait=2000, kernels=10, kernel=200)


def judged(done):
    said = report("--json", done.database)
    equal(said.status, 0, "dlprof-report", said.err)
    return json.loads(said.out)


def check_few():
    """Few records with impossible times are counted and left out of busy time; above 1 % a note warns."""
    for name, every in ("ZERO", 50), ("BACKWARDS", 60), ("FUTURE", 40), ("ENDLESS", 70), ("ZERO", 300):
        done = loop(dict(PLAN, steps=40), **{"FAKE_CUPTI_{}_EVERY".format(name): every})
        equal((done.status, done.misuse()), (0, []), name, "status, misuse", done.err)
        meta = done.meta()
        bad, records = int(meta["cuda_bad_ts"]), int(meta["cuda_records"])
        equal((records, bad), (len(done.ops), len(done.ops) // every), name, "records, bad ones")
        kernels = done.query("SELECT SUM(count) AS count, SUM(ns) AS ns FROM gpu_kernel")[0]
        near(kernels["ns"], kernels["count"] * 200_000, name, "time of those that are left")
        total = done.query("SELECT SUM(gpu_busy_ns) AS ns FROM batch")[0]["ns"]
        check(total <= union(busy(done.ops)) + 10_000, name, "busy invented", total)
        # Each record that was left out can lack at most a kernel's time, 200 us.
        check(total >= union(busy(done.ops)) - bad * 200_000 - 10_000, name, "busy", total)
        equal(meta.get("clock"), "gpu", name, "clock")
        warned = done.query("SELECT * FROM note WHERE level = 'warning' AND text LIKE '%cannot be%'")
        equal(len(warned), int(every < 100), name, every, "warnings")


def check_many():
    """With too many impossible or lost records dlprof says nothing of the GPU and judges by the host's clock."""
    for name, value in ("ZERO_EVERY", 7), ("BACKWARDS_EVERY", 9), ("OFFSET_NS", -86400 * 10**9), \
                       ("DROP_EVERY", 8), ("FUTURE_EVERY", 7), ("ENDLESS_EVERY", 9), ("HUGE_EVERY", 1), ("OVER", 1), \
                       ("INVALID_EVERY", 1):
        done = loop(dict(PLAN, steps=100), **{"FAKE_CUPTI_" + name: value})
        equal((done.status, done.misuse()), (0, []), name, "status, misuse", done.err)
        known = done.query("SELECT COUNT(gpu_busy_ns) AS busy, COUNT(gpu_idle_wait_ns) AS idle"
                           " FROM batch")
        equal(known, [{"busy": 0, "idle": 0}], name, "of the GPU nothing is known")
        said = judged(done)
        equal(said["clock"], "host", name, "clock")
        check(said["verdict"] == "highly_input_bound", name, "verdict", said["verdict"])
        why = " ".join(row["why"] or "" for row in done.query("SELECT why FROM gap"))
        # With OFFSET_NS and OVER dlprof gets no usable record, so that CUPTI counts as silent instead.
        check("too many records" in why or name in ("OFFSET_NS", "OVER"), name, "why", why)


def check_harmless():
    """Records of a kind that was not enabled, buffers delivered twice, and one id for all records change nothing."""
    for change in dict(FAKE_CUPTI_MORE=55), dict(FAKE_CUPTI_AGAIN=1), dict(FAKE_CUPTI_SAME_ID=7, DLPROF_CUDA="full"):
        done = loop(dict(PLAN, steps=400), **change)
        equal((done.status, done.misuse()), (0, []), change, "status, misuse", done.err)
        for row in done.query("SELECT * FROM gpu_step WHERE step_ns NOT NULL AND batch >= 1"):
            near(row["gpu_busy_ns"], union(busy(done.ops), row["begin_ns"], row["begin_ns"] + row["step_ns"]),
                 change, "busy, batch", row["batch"], slack=60_000)
            equal(row["kernel_count"], 10, change, "kernels, batch", row["batch"])
        meta = done.meta()
        equal([meta[key] for key in ("clock", "cuda_bad_ts", "cuda_own_drop")], ["gpu", "0", "0"], change, "meta")


def check_cut():
    """dlprof reads no bytes past the size that CUPTI gives: a kernel's pointer to its name would be garbage."""
    # Without its last 238 bytes the buffer has 90 of 216 bytes of the last kernel, and lacks two records of 56.
    done = loop(dict(PLAN, memset=0), FAKE_CUPTI_CUT=238, FAKE_CUPTI_KERNEL_SIZE=216)
    equal((done.status, done.misuse()), (0, []), "cut: status, misuse", done.err)
    equal(done.query("SELECT SUM(count) AS n FROM gpu_kernel")[0]["n"], 399, "cut: kernels")
    equal(judged(done)["verdict"], "highly_input_bound", "cut: verdict")


def check_no_kernels():
    """Where CUPTI records copies but no kernels, busy time is unknown, and the report says why."""
    for change, words in ((dict(FAKE_CUPTI_RC_ACTIVITYENABLE="27:10"), "refuses to record kernels"),
                          (dict(FAKE_CUPTI_NO_KERNELS=1), "but no kernel")):
        done = loop(dict(PLAN, steps=100), **change)
        equal((done.status, done.misuse()), (0, []), change, "status, misuse", done.err)
        known = done.query("SELECT COUNT(gpu_busy_ns) AS busy, COUNT(gpu_idle_wait_ns) AS idle, "
                           "SUM(h2d_bytes) > 0 AS copies FROM batch")
        equal(known, [{"busy": 0, "idle": 0, "copies": 1}], change, "what is known of the GPU")
        equal(judged(done)["clock"], "host", change, "clock")
        text = report("-v", done.database).out
        check(words in " ".join(text.split()), change, "the report says", words, text)


def check_kernels_stop():
    """Where CUPTI stops reporting kernels while copies go on, these steps are unknown: the GPU does not idle in them."""
    for last, clock in ((3000, "gpu"), (6000, "host")):
        done = loop(dict(PLAN, steps=600), FAKE_CUPTI_NO_KERNELS=1001, FAKE_CUPTI_NO_KERNELS_TO=last, timeout=120)
        equal((done.status, done.misuse()), (0, []), "kernels stop: status, misuse", done.err)
        known = [row["batch"] for row in done.query("SELECT batch FROM batch WHERE gpu_busy_ns NOT NULL ORDER BY batch")]
        equal(known, [n for n in range(600) if n < 99 or n > last / 10], "kernels stop: steps whose GPU is known")
        equal([row["why"] for row in done.query("SELECT why FROM gap")], ["CUPTI reports no kernel"], "kernels stop: gaps")
        equal(judged(done)["clock"], clock, "kernels stop: clock", last)


def check_a_while():
    """Half a second of impossible records makes only that time unknown: all steps before and after it are known."""
    done = loop(dict(PLAN, steps=900), FAKE_CUPTI_BACKWARDS_EVERY=2, FAKE_CUPTI_BAD_FROM_MS=1500,
                FAKE_CUPTI_BAD_TO_MS=2000, timeout=120)
    equal((done.status, done.misuse()), (0, []), "a while: status, misuse", done.err)
    first = min(op.begin for op in done.ops)
    gaps = done.query("SELECT * FROM gap")
    if not equal(len(gaps), 1, "a while: gaps", gaps):
        return
    begin, end = gaps[0]["begin_ns"], gaps[0]["end_ns"]
    say("a while: from {:.2f} to {:.2f} s".format((begin - first) / 1e9, (end - first) / 1e9))
    # The gap may begin 150 ms late: a second with few bad records, all at its end, is not doubted.
    bad = first + 1500 * MS
    check(begin <= bad + 150 * MS and end >= bad + 490 * MS, "a while: all of it", gaps)
    check(begin >= bad - 1300 * MS and end <= bad + 3500 * MS, "a while: little more", gaps)
    for row in done.query("SELECT * FROM batch WHERE step_ns NOT NULL ORDER BY begin_ns"):
        low, high = row["begin_ns"], row["begin_ns"] + row["step_ns"]
        if low < end and high > begin:
            equal(row["gpu_busy_ns"], None, "a while: busy in it, batch", row["batch"])
        elif high <= bad or low >= end:
            near(row["gpu_busy_ns"], union(busy(done.ops), low, high), "a while: busy, batch",
                 row["batch"], slack=60_000)
    equal(judged(done)["clock"], "gpu", "a while: clock")


def check_late():
    """Records that always come 200 ms late, as those of a busy stream do, make no gap."""
    done = loop(dict(PLAN, steps=1100), FAKE_CUPTI_DELAY_MS=200, timeout=120)
    equal((done.status, done.misuse()), (0, []), "late: status, misuse", done.err)
    equal(done.query("SELECT * FROM gap"), [], "late: gaps")
    known = done.query("SELECT COUNT(gpu_busy_ns) AS n FROM batch")[0]["n"]
    equal(known, 1100, "late: steps")


def check_dropped():
    done = loop(PLAN, FAKE_CUPTI_DROP_EVERY=5)
    equal((done.status, done.misuse()), (0, []), "dropped: status, misuse", done.err)
    meta = done.meta()
    # Each operation has a record or is counted as dropped: the fakes make no overhead records.
    seen = int(meta["cuda_records"]) + int(meta["cuda_dropped"])
    equal(seen, len(done.ops), "dropped: all are accounted for")
    equal(int(meta["cuda_dropped"]), len(done.ops) // 5, "dropped: counted")


def check_pool():
    """CUPTI keeps all buffers until dlprof has none left: the records without room are counted as lost.

    A CUPTI before 12.9 ends the program if it gets no buffer: dlprof gives it one all the same.
    """
    made, size = 40 * 5002 + 1, 864  # records of four times their true size: a fourth of them fills the buffers
    for version in 24, 28:
        done = loop(dict(PLAN, steps=40, wait=0, kernels=5000, kernel=1, sync=0, print=0),
                    cuda=12, FAKE_CUPTI_VERSION=version, FAKE_CUPTI_DELAY_MS=60000,
                    FAKE_CUPTI_KERNEL_SIZE=size, FAKE_TRUTH=None, timeout=120)
        equal((done.status, done.misuse()), (0, []), "pool: status, misuse", done.err)
        meta = done.meta()
        lost = int(meta["cuda_dropped"]) + int(meta["cuda_own_drop"])
        say("pool, version {}: {} records, {} without a buffer, {} dropped by us".format(
            version, meta["cuda_records"], meta["cuda_dropped"], meta["cuda_own_drop"]))
        check(lost > 0, "pool: exhausted, version", version)
        missing = made - int(meta["cuda_records"])
        if version < 27:
            # A buffer that dlprof threw away unread counts for all records of 216 bytes that it could hold.
            check(missing <= lost <= 1.01 * missing * size / 216, "pool: accounted for", lost, missing)
        else:
            equal(lost, missing, "pool: accounted for")


def check_storm():
    """No kernel is lost at the rate of a training that is bound by its launches."""
    steps, kernels = 60, 1500
    done = loop(dict(PLAN, steps=steps, wait=1000, kernels=kernels, kernel=4, print=0),
                FAKE_TRUTH=None, timeout=120)
    equal((done.status, done.misuse()), (0, []), "storm: status, misuse", done.err)
    meta = done.meta()
    span = done.query("SELECT MAX(begin_ns + step_ns) - MIN(begin_ns) AS ns FROM batch")[0]["ns"]
    say("storm: {:.0f} kernels a second".format(steps * kernels / span * 1e9))
    equal([meta[key] for key in ("cuda_bad_ts", "cuda_dropped", "cuda_own_drop")], ["0"] * 3,
          "storm: bad, dropped, dropped by us")
    count = done.query("SELECT SUM(count) AS n FROM gpu_kernel")[0]["n"]
    equal(count, steps * kernels, "storm: kernels")
    rows = done.query("SELECT SUM(kernel_count) AS n FROM gpu_step")[0]["n"]
    equal(rows, steps * kernels, "storm: kernels of steps")


def check_first_release():
    """CUPTI 13.0.0 records no synchronization of a device: dlprof takes the time that the host saw."""
    done = loop(dict(PLAN, sync=3), FAKE_CUPTI_VERSION=130000)
    equal((done.status, done.misuse()), (0, []), "13.0.0: status, misuse", done.err)
    found = done.query("SELECT * FROM gpu_step WHERE step_ns NOT NULL")
    blocked(found, "sync_context_ns", syncs(done.ops, 4), "13.0.0:")


def main():
    need_shim()
    jobs = [check_few, check_many, check_harmless, check_cut, check_no_kernels, check_kernels_stop, check_a_while, check_late, check_dropped, check_pool, check_storm,
            check_first_release]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: job(), jobs))
    finish()


main()
