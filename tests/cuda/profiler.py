# SPDX-License-Identifier: Apache-2.0
"""torch.profiler gets every kernel of its sessions, as it does without dlprof, and dlprof's times stay right.

usage: profiler.py CASE... fakes/kineto.c acts like torch.profiler. A case, such as one-flight-500, is a name
in SHAPES, `flight` (the GPU never stops working) or `still` (nothing runs when a session begins), and how
many milliseconds the profiler processes its trace of the CPU before it asks CUPTI for its buffers.
TEST_PROFILER_MS: other such numbers of milliseconds for each shape, as "150 1000 3000".
"""
import concurrent.futures
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import MS, busy, check, equal, finish, loop, near, need_shim, say, union  # noqa

FROM, TO, LATE, EACH_STEP = 20, 40, 5, 1
CLOCKS = 100_000  # ns that two clocks of the fakes may differ, one of which runs 2.1 times as fast
PLAN = dict(wait=1000, kernels=10, kernel=500, prefetch=1, memset=0, print=0, kineto_from=FROM,
            kineto_to=TO)
STEP_MS = 5

# {name: what differs from PLAN}: several sessions in a row, sessions with a warm-up, and others.
SHAPES = {
    "one": {},
    "schedule": dict(kineto_count=3, kineto_period=60, kineto_warmup=2),
    "dense": dict(kineto_count=3, kineto_period=26, kineto_warmup=2),
    "thread": dict(kineto_count=2, kineto_period=300, kineto_warmup=3),
    "once": dict(kineto_count=2, kineto_period=60),
    "large": dict(kernels=100, kernel=50),
    # The host never waits, and is more than 100 ms ahead when the session ends.
    "deep": dict(kineto_from=120, kineto_to=160, steps=320, wait=3000, kernel=450),
    "old": dict(kineto_count=2, kineto_period=60),  # CUDA 12, where all threads share a buffer
}
SETTINGS = {
    "thread": dict(KINETO_THREAD=1),
    "once": dict(KINETO_ONCE=1),
}


def make_plan(shape, flight, between_ms):
    plan = dict(PLAN, sync=LATE if flight else EACH_STEP, **SHAPES[shape])
    period, count = plan.get("kineto_period", 0), plan.get("kineto_count", 1)
    # The profiler's own thread ends a session: the next one may begin only after that.
    if shape == "thread":
        period = plan["kineto_period"] = TO - FROM + (between_ms + 400) // STEP_MS
    after_ms = 700
    if shape == "thread":
        # The program trains on while that thread works, and a buffer from before the session may have to fill first.
        after_ms += between_ms + 700
    if shape == "deep":
        return dict(plan, sync=0)
    return dict(plan, steps=TO + (count - 1) * period + after_ms // STEP_MS)


def got_all(name, done, plan):
    """Checks that the profiler has each kernel once that was launched in a session and ended before the
    session's end, and no kernel that did not run in the session."""
    kernels = busy(done.ops)
    sessions = [line for line in done.lines if "session" in line]
    if not equal(len(sessions), plan.get("kineto_count", 1), name, "sessions", done.out[-300:]):
        return
    for k, session in enumerate(sessions):
        later = k * plan.get("kineto_period", 0)
        launched = kernels[(plan["kineto_from"] + later) * plan["kernels"]:
                           (plan["kineto_to"] + later) * plan["kernels"]]
        begin, end = session["session"]
        wanted = {op.begin for op in launched if op.end < end - CLOCKS}
        if not name.startswith("deep"):  # there most of the kernels run after the session
            check(len(wanted) >= 0.8 * len(launched), name, "session", k, "has kernels", len(wanted))
        allowed = {op.begin for op in kernels if op.begin > begin - CLOCKS and op.end < end + CLOCKS}
        unknown, found = 0, []
        for at in session["kernels"]:
            # Half a kernel's time at most: it tells a kernel from its neighbours.
            near_by = [b for b in allowed if abs(b - at) < min(CLOCKS, plan["kernel"] * 500)]
            unknown += not near_by
            found += near_by
        equal(unknown, 0, name, "session", k, "kernels that were not")
        equal(len(found) - len(set(found)), 0, name, "session", k, "kernels that it has twice")
        equal(len(wanted - set(found)), 0, name, "session", k, "kernels that it lacks, of",
              len(wanted))


def ours(name, done, plan):
    """Checks that dlprof's busy times are right in all steps outside of gaps, and that the last steps are outside."""
    gaps = done.query("SELECT * FROM gap ORDER BY begin_ns")
    # Up to three gaps a session: while it lasts, for operations that it cuts off, and for buffers that threads share.
    check(len(gaps) <= 3 * plan.get("kineto_count", 1), name, "gaps", gaps)
    equal(done.meta()["cuda_bad_ts"], "0", name, "bad records")
    known = 0
    rows = done.query("SELECT * FROM batch WHERE step_ns IS NOT NULL ORDER BY batch")
    for row in rows:
        begin, end = row["begin_ns"], row["begin_ns"] + row["step_ns"]
        if any(gap["begin_ns"] < end and (gap["end_ns"] or end) > begin for gap in gaps):
            equal(row["gpu_busy_ns"], None, name, "in a gap, step", row["batch"])
            continue
        known += 1
        near(row["gpu_busy_ns"], union(busy(done.ops), begin, end), name, "busy in step",
             row["batch"], slack=150_000)
    after = [row for row in rows[-20:] if row["gpu_busy_ns"] is not None]
    check(known >= FROM + 15 and len(after) >= 15, name, "steps known", known, "at the end", len(after),
          gaps)
    say(name, "steps known {} of {}, gaps {}".format(
        known, len(rows), [(gap["why"], ((gap["end_ns"] or 0) - gap["begin_ns"]) // MS) for gap in gaps]))


def run_case(name):
    shape, flight, between = name.split("-")
    between_ms = int(between)
    cuda = 12 if shape == "old" else 13
    plan = make_plan(shape, flight == "flight", between_ms)
    settings = dict(KINETO_CPU_MS=between_ms, FAKE_TRUTH_LAZY=1, **SETTINGS.get(shape, {}))
    if between_ms == 20:
        # The same checks hold without dlprof.
        done = loop(plan, preload=False, cuda=cuda, **settings)
        equal((done.status, done.misuse()), (0, []), name, "alone: status, misuse", done.err)
        got_all(name + " alone", done, plan)
    done = loop(plan, cuda=cuda, timeout=120, **settings)
    equal((done.status, done.misuse()), (0, []), name, "status, misuse", done.err)
    got_all(name, done, plan)
    ours(name, done, plan)


def main():
    need_shim()
    cases = sys.argv[1:]
    if os.environ.get("TEST_PROFILER_MS"):
        cases = sorted({case.rsplit("-", 1)[0] for case in cases})
        cases = ["{}-{}".format(case, ms) for case in cases
                 for ms in os.environ["TEST_PROFILER_MS"].split()]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run_case, cases))
    finish()


main()
