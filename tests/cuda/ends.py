# SPDX-License-Identifier: Apache-2.0
"""A program with a GPU ends without delay and loses few records, however it ends and whatever its children do.

usage: ends.py
"""
import concurrent.futures
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (LOOP, MS, busy, check, environment, equal, finish, libraries, loop,  # noqa: E402
                 near, need_shim, plan_text, run, say, union)

PLAN = dict(steps=40, wait=2000, kernels=5, kernel=200)
SIGNALS = {0: 0, 1: 0, 2: -6, 3: -15, 4: -9}
EXIT_LIMIT_S = 1.0  # an end that waits for CUPTI or for dlprof takes two seconds or more at each attempt
ATTEMPTS = 3
FORCED = "cuptiActivityFlushAll 1"


def check_end(how):
    """Ends a program by return, _exit, abort, SIGTERM or SIGKILL (0 to 4): all steps of the host are stored."""
    name = "end {}:".format(how)
    # The run takes more than a second, so that CUPTI has delivered a buffer before the end.
    done = loop(dict(PLAN, steps=400, end=how))
    equal((done.status, done.misuse()), (SIGNALS[how], []), name, "status, misuse", done.err)
    batches = done.query("SELECT * FROM batch WHERE step_ns NOT NULL ORDER BY batch")
    equal(len(batches), 400, name, "batches")
    known = [b for b in batches if b["gpu_busy_ns"] is not None]
    for row in known:
        begin = row["begin_ns"]
        near(row["gpu_busy_ns"], union(busy(done.ops), begin, begin + row["step_ns"]), name,
             "busy in step", row["batch"], slack=60_000)
    say(name, "{} steps, of {} the GPU is known".format(len(batches), len(known)))
    # A signal runs no code of dlprof: records that CUPTI has not delivered are unknown, not 0. CUPTI
    # delivers a full buffer at once, and with 1.3 kB a step this program fills one in 200 steps.
    check(len(known) == 400 if how < 2 else len(known) >= 180, name, "known", len(known))
    last_op = max(op.end for op in done.ops if op.kind == "kernel")
    forced = [int(call[0]) for call in done.calls if call[3] == FORCED]
    equal(len(forced), 1 if how < 2 else 0, name, "forced flushes")
    check(all(ns > last_op - 10 * MS for ns in forced), name, "forced before the end")


def check_children():
    """A forked child of a process with CUPTI does not hang: dlprof calls no function of CUPTI in it."""
    for replaced in 0, 1:
        name = "child that {}:".format("execs" if replaced else "exits")
        taken = []
        for _ in range(ATTEMPTS):
            done = loop(dict(PLAN, fork_at=20, exec=replaced))
            equal((done.status, done.misuse()), (0, []), name, "status, misuse", done.err)
            child, = [line for line in done.lines if "child_ms" in line]
            equal(child["status"], 0, name, "status of the child")
            known = done.query("SELECT COUNT(*) AS n FROM batch WHERE gpu_busy_ns NOT NULL")
            equal(known[0]["n"], 40, name, "the parent goes on")
            taken.append(child["child_ms"])
            if taken[-1] < EXIT_LIMIT_S * 1000:
                break
        check(min(taken) < EXIT_LIMIT_S * 1000, name, "took", taken)


def timed(plan, **changes):
    begin = time.monotonic()
    done = loop(plan, **changes)
    return time.monotonic() - begin, done


def check_flush_hang():
    """The program ends about two seconds later where CUPTI never returns from the last flush."""
    taken, done = timed(dict(PLAN, steps=10), FAKE_CUPTI_FLUSH_HANG=1)
    equal(done.status, 0, "flush hangs: status")
    say("flush hangs: ended after {:.1f} s".format(taken))
    check(taken < 10, "flush hangs: ended after", taken)
    equal(len(done.query("SELECT * FROM batch")), 10, "flush hangs: batches")
    notes = done.query("SELECT text FROM note WHERE text LIKE '%last records%'")
    equal(len(notes), 1, "flush hangs: says so")
    null = done.query("SELECT COUNT(*) AS n FROM batch WHERE gpu_busy_ns IS NULL")
    equal(null, [{"n": 10}], "flush hangs: nothing known, nothing said")


def check_no_cuda():
    """Without a driver or a device dlprof prints nothing, and the program ends without delay."""
    plan = [LOOP, plan_text(dict(PLAN, steps=3))]
    done = loop(dict(PLAN, steps=3), FAKE_CUDA_INIT_RC=100)
    equal((done.status, done.err), (3, "work: cudaMalloc(&device, bytes): 100\n"), "no device")
    for setting in None, "default":
        taken = []
        for _ in range(ATTEMPTS):
            begin = time.monotonic()
            done = run(["/bin/true"], env=environment(DLPROF_CUDA=setting))
            taken.append(time.monotonic() - begin)
            equal((done.status, done.out, done.err), (0, "", ""), "no CUDA")
            if taken[-1] < EXIT_LIMIT_S:
                break
        check(min(taken) < EXIT_LIMIT_S, "no CUDA: took too long", taken)
    bare = run(plan, env=environment(preload=False, LD_LIBRARY_PATH=libraries()))
    equal(bare.status, 0, "without us", bare.err)


def main():
    need_shim()
    jobs = [(check_end, how) for how in SIGNALS] + [(check_children,), (check_flush_hang,)]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda job: job[0](*job[1:]), jobs))
    check_no_cuda()
    finish()


main()
