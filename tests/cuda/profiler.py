# SPDX-License-Identifier: Apache-2.0
"""torch.profiler has each kernel of its sessions, as it has without us, and we are right beside it.

usage: profiler.py CASE... fakes/kineto.c stands for it. A case is a shape of sessions, below, with
`flight` (the GPU never stops working) or `still` (nothing runs when a session begins), and how many
milliseconds the profiler is busy with its trace of the CPU before it asks for its buffers:
one-flight-500. TEST_PROFILER_MS: other numbers of them for each shape, as "150 1000 3000".
"""
import concurrent.futures
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import MS, busy, check, equal, finish, loop, near, need_shim, say, union  # noqa

FROM, TO, LATE, EACH_STEP = 20, 40, 5, 1
CLOCKS = 100_000  # two of the double, one of which runs 2.1 times as fast
PLAN = dict(wait=1000, kernels=10, kernel=500, prefetch=1, memset=0, print=0, kineto_from=FROM,
            kineto_to=TO)
STEP_MS = 5

# Sessions that follow upon one another, and those that have begun to record before they want that.
SHAPES = {
    "one": {},
    "schedule": dict(kineto_count=3, kineto_period=60, kineto_warmup=2),
    "dense": dict(kineto_count=3, kineto_period=26, kineto_warmup=2),
    "thread": dict(kineto_count=2, kineto_period=300, kineto_warmup=3),
    "once": dict(kineto_count=2, kineto_period=60),
    "large": dict(kernels=100, kernel=50),
    # The host never waits, and is more than 100 ms ahead when the session ends.
    "deep": dict(kineto_from=120, kineto_to=160, steps=320, wait=3000, kernel=450),
    "old": dict(kineto_count=2, kineto_period=60),  # all threads share a buffer
}
SETTINGS = {
    "thread": dict(KINETO_THREAD=1),
    "once": dict(KINETO_ONCE=1),
}


def make_plan(shape, flight, between_ms):
    plan = dict(PLAN, sync=LATE if flight else EACH_STEP, **SHAPES[shape])
    period, count = plan.get("kineto_period", 0), plan.get("kineto_count", 1)
    # A thread of its own still works when the next session may begin.
    if shape == "thread":
        period = plan["kineto_period"] = TO - FROM + (between_ms + 400) // STEP_MS
    after_ms = 700
    if shape == "thread":
        # It works on meanwhile; and a buffer of before it may first have to be full.
        after_ms += between_ms + 700
    if shape == "deep":
        return dict(plan, sync=0)
    return dict(plan, steps=TO + (count - 1) * period + after_ms // STEP_MS)


def got_all(name, done, plan):
    """Each kernel that was launched in a session and had ended by its end, once, and no other that did
    not run in it."""
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
        if not name.startswith("deep"):  # where most run after the session
            check(len(wanted) >= 0.8 * len(launched), name, "session", k, "has kernels", len(wanted))
        allowed = {op.begin for op in kernels if op.begin > begin - CLOCKS and op.end < end + CLOCKS}
        unknown, found = 0, []
        for at in session["kernels"]:
            # None is shorter than this.
            near_by = [b for b in allowed if abs(b - at) < min(CLOCKS, plan["kernel"] * 500)]
            unknown += not near_by
            found += near_by
        equal(unknown, 0, name, "session", k, "kernels that were not")
        equal(len(found) - len(set(found)), 0, name, "session", k, "kernels that it has twice")
        equal(len(wanted - set(found)), 0, name, "session", k, "kernels that it lacks, of",
              len(wanted))


def ours(name, done, plan):
    """Outside of gaps all is known and true, and the end of the run is outside."""
    gaps = done.query("SELECT * FROM gap ORDER BY begin_ns")
    # While it is there, of what it cuts off, and when it makes threads share buffers.
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
        # What is wanted is what there is without us.
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
