# SPDX-License-Identifier: Apache-2.0
"""Another client of CUPTI gets all records that it asks for, and dlprof has a gap just as long as it is there.

usage: foreign.py CASE... One client is linked to libcupti (fakes/kineto.c); the other calls no function
that dlprof can wrap (FAKE_CUPTI_STEAL_AT), as a client does that found them by a dlsym() of its own.
"""
import concurrent.futures
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (MS, busy, check, equal, failure_count, finish, loop, near, need_shim, say,  # noqa
                 union)

ATTEMPTS = 3
CLOCKS = 20_000  # ns that the clocks of the program and of the shim may differ
PLAN = dict(steps=250, wait=3000, kernels=10, kernel=200)
OPS_A_STEP = 13  # a copy, a memset, ten kernels, a synchronization


def resumed_busy(name, done, gap_begin, gap_end):
    """Checks that busy times are right in steps outside of the gap and NULL inside; returns how many are known."""
    known = unknown = 0
    for row in done.query("SELECT * FROM batch WHERE step_ns IS NOT NULL ORDER BY batch"):
        begin, end = row["begin_ns"], row["begin_ns"] + row["step_ns"]
        if end <= gap_begin or begin >= gap_end:
            known += 1
            near(row["gpu_busy_ns"], union(busy(done.ops), begin, end), name, "busy in step",
                 row["batch"], slack=60_000)
        else:
            unknown += 1
            equal((row["gpu_busy_ns"], row["gpu_idle_wait_ns"]), (None, None), name,
                  "in the gap, step", row["batch"])
    say(name, "steps known {}, in the gap {}".format(known, unknown))
    return known


def one_gap(name, done):
    gaps = done.query("SELECT * FROM gap ORDER BY begin_ns")
    equal(len(gaps), 1, name, "gaps", gaps)
    if not gaps:
        finish()
    return gaps[0]


def ends_late(name, done, gaps):
    """Checks that each gap begins when the client starts, and ends after it stops. Returns the gaps that end
    more than 600 ms after: on a busy machine the shim may look late, so that the caller tries again."""
    calls = [line for line in done.lines if "profiler" in line]
    late = []
    for gap, came, went in zip(gaps, calls[::2], calls[1::2]):
        check(came["begin"] - CLOCKS < gap["begin_ns"] < came["end"] + CLOCKS, name, "gap begins", gap,
              came)
        if check(gap["end_ns"] and gap["end_ns"] > went["begin"], name, "gap ends", gap, went):
            # The shim looks a few times a second whether the client is gone.
            late += [gap["end_ns"] - went["end"]] * (gap["end_ns"] > went["end"] + 600 * MS)
    return late


def kineto(begin=20, end=40, level="default", env={}, **plan):
    def test(name):
        full = dict(PLAN, kineto_from=begin, kineto_to=end, **plan)
        done = loop(full, DLPROF_CUDA=level, **env)
        equal((done.status, done.misuse()), (0, []), name, "exit status, misuse", done.err)
        said = re.search(r"kineto subscribe=(\d+) kernels=(\d+) copies=(\d+) foreign=(\d+)",
                         done.out)
        count = (end - begin) * plan.get("kernels", 10)
        expected = ("0", str(count), str(end - begin), "0")
        equal(said and said.groups(), expected, name, "what the profiler got")
        gap = one_gap(name, done)
        late = ends_late(name, done, [gap])
        known = resumed_busy(name, done, gap["begin_ns"], gap["end_ns"])
        check(known >= 25, name, "steps with a GPU", known)
        calls = done.query("SELECT * FROM gpu_call WHERE begin_ns > ? AND step_ns NOT NULL",
                           gap["end_ns"] or 0)
        equal(len(calls) >= 25, level == "api", name, "steps with the host's calls", len(calls))
        before = done.query("SELECT * FROM gpu_call WHERE begin_ns + step_ns < ?", gap["begin_ns"])
        if begin:
            equal(len(before) >= begin - 1, level == "api", name, "such steps before", len(before))
        # dlprof enables its calls, disables them before the client gets their records, and enables them again.
        equal(done.called("cuptiActivityEnableRuntimeApi 131"), 3 * (level == "api"), name,
              "switched")
        equal({row["launch_count"] for row in calls} - {10}, set(), name, "launches")
        # Only the client sets a clock, 2.1 times as fast, and it stays set: dlprof converts its times.
        equal(done.called("cuptiActivityRegisterTimestampCallback"), 1, name, "its own call")
        return late
    return test


# {name: the plan}: the client has one session from the first step on, or two later; with polls or graphs.
SAME = {
    "first": dict(kineto_from=0, kineto_to=20),
    "twice": dict(kineto_from=10, kineto_to=20, kineto_count=2, kineto_period=20, poll=3),
    "graph": dict(kineto_from=10, kineto_to=20, kineto_count=2, kineto_period=20, graph=1, poll=2),
}


def same(name):
    """torch.profiler gets the same records as without dlprof, at every level but `graphs`, which is documented so."""
    for what, plan in SAME.items():
        plan = dict(PLAN, steps=50, print=0, **plan)
        # With polls, what the profiler has set once about their records must be in force in both sessions.
        for env in [{}, dict(KINETO_DLSYM="1")] + [dict(KINETO_SYNCS=wanted) for wanted in "01" if "poll" in plan]:
            env = dict(env, KINETO_CALLS="1")
            plain = loop(plan, preload=False, **env)
            lines = re.findall(r"kineto .*", plain.out)
            check(all(" own=0" not in line and "syncs=0" not in line for line in lines) and lines, name,
                  what, "something to see", lines)
            for level in "default", "api", "memcpy":
                done = loop(plan, DLPROF_CUDA=level, **env)
                equal((done.status, done.misuse()), (0, []), name, what, level, "status, misuse", done.err)
                equal(re.findall(r"kineto .*", done.out), lines, name, what, level, env)


def graphs(name):
    """At level `graphs` dlprof records whole graphs again after a session of torch.profiler."""
    done = loop(dict(PLAN, graph=1, kineto_from=20, kineto_to=40), DLPROF_CUDA="graphs", FAKE_NODE_GAP_NS=0)
    equal((done.status, done.misuse()), (0, []), name, "exit status, misuse", done.err)
    gap = one_gap(name, done)
    known = resumed_busy(name, done, gap["begin_ns"], gap["end_ns"])
    check(known >= 25, name, "steps with a GPU", known)
    equal(done.meta().get("gpu_busy_is_upper_bound"), "1", name, "graphs are recorded as wholes")


def once(name):
    """A client that registers its callbacks once, and later only enables kinds, gets the records of each session."""
    done = loop(dict(PLAN, kineto_from=20, kineto_to=40, kineto_count=2, kineto_period=130),
                KINETO_ONCE=1)
    equal((done.status, done.misuse()), (0, []), name, "exit status, misuse", done.err)
    equal(re.findall(r"kernels=(\d+) copies=(\d+) foreign=(\d+)", done.out),
          2 * [("200", "20", "0")], name, "what the profiler got")
    gaps = done.query("SELECT * FROM gap ORDER BY begin_ns")
    # A gap lasts until all operations have ended that were launched in it. On a busy machine the second
    # session may have begun by then, and there is one gap for both sessions.
    check(len(gaps) in (1, 2), name, "gaps", gaps)
    if len(gaps) == 1:
        went = [line for line in done.lines if "profiler" in line][-1]
        check(gaps[0]["end_ns"] and gaps[0]["end_ns"] > went["begin"], name, "gap ends", gaps, went)
        return []
    return ends_late(name, done, gaps)


def forced(name):
    """Another client forces a flush while dlprof records: the operations that run then get no end. They make a
    short gap and no bad records, with their begins or without; all other steps are known."""
    plan = dict(steps=60, wait=1000, kernels=10, kernel=4000, prefetch=1, memset=0, sync=5, print=0, flush_at=30)
    for env in {}, dict(FAKE_CUPTI_NO_BEGIN=1):
        done = loop(plan, FAKE_TRUTH_LAZY=1, **env)
        equal((done.status, done.misuse()), (0, []), name, "exit status, misuse", done.err)
        equal(done.meta()["cuda_bad_ts"], "0", name, "bad records")
        flush, = [line for line in done.lines if "profiler" in line]
        # The host is one step ahead, so that kernels run at the flush, unless the host had no core.
        cut = [op for op in busy(done.ops)[:300] if op.end > flush["end"]]
        if not cut:
            return ["nothing ran when it came"]
        gap = one_gap(name, done)
        check(gap["begin_ns"] < cut[0].begin + CLOCKS, name, "gap begins", gap, flush)
        check(gap["end_ns"] and gap["end_ns"] > cut[-1].end - CLOCKS, name, "gap ends", gap, flush)
        check(gap["end_ns"] - gap["begin_ns"] < 3 * 40 * MS, name, "gap", gap)
        known = resumed_busy(name, done, gap["begin_ns"], gap["end_ns"])
        check(known >= 54, name, "steps with a GPU", known)


def stolen(name):
    """The shim sees no call of a client that came by dlsym(): that the records stop must make a gap."""
    plan = dict(PLAN, steps=1000, kernel=100, wait=4000, print=1)
    done = loop(plan, FAKE_CUPTI_STEAL_AT=100 * OPS_A_STEP, timeout=120)
    equal((done.status, done.misuse()), (0, []), name, "exit status, misuse", done.err)
    gap = one_gap(name, done)
    theft, = [int(call[0]) for call in done.calls if call[3] == "stolen"]
    check(abs(gap["begin_ns"] - theft) < 1500 * MS, name, "gap begins", gap, theft)
    rows = done.query("SELECT * FROM gpu_step WHERE begin_ns > ? AND step_ns NOT NULL",
                      max(theft, gap["begin_ns"]))
    check(all(row["gpu_busy_ns"] is None for row in rows), name, "busy invented", len(rows))


def silent(name):
    """Where dlprof's own cuptiUnsubscribe ends all records, there is a gap, and not a GPU that idles."""
    plan = dict(PLAN, steps=1000, wait=4000)
    done = loop(plan, FAKE_CUPTI_UNSUBSCRIBE_STOPS=2, timeout=120)
    equal((done.status, done.misuse()), (0, []), name, "exit status, misuse", done.err)
    equal(done.query("SELECT COUNT(*) AS n FROM batch WHERE gpu_busy_ns IS NOT NULL"
                     " OR gpu_idle_wait_ns IS NOT NULL"), [{"n": 0}], name, "invented")
    check(done.query("SELECT * FROM gap"), name, "no gap")


CASES = {
    "kineto": kineto(),
    "first": kineto(begin=0, end=20),
    "graph": kineto(graph=1),
    "graphs": graphs,
    "dlsym": kineto(env=dict(KINETO_DLSYM=1)),
    "shared": kineto(env=dict(KINETO_SHARED=1)),
    "same": same,
    "api": kineto(level="api"),
    "once": once,
    "forced": forced,
    "stolen": stolen,
    "silent": silent,
}


def run_case(name):
    for _ in range(ATTEMPTS):
        late = CASES[name](name)
        if not late or failure_count():
            return
        say(name, "attempt failed, ns until the gap ended, or why:", late)
    check(False, name, "attempts failed", late)


def main():
    need_shim()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(run_case, sys.argv[1:]))
    finish()


main()
