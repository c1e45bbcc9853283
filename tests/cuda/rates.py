# SPDX-License-Identifier: Apache-2.0
"""The GPU's account is complete, or it is said not to be, however CUPTI hands out its buffers.

usage: rates.py CASE... While an operation is in flight CUPTI keeps the buffer that has its record: a busy GPU
with few kernels a second gives none for seconds. That is no silence, and no gap.
"""
import bisect
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import MS, busy, check, equal, finish, loop, near, need_shim, report, say, union  # noqa

# The host is a step ahead, and another thread launches half of it, as autograd does.
AHEAD = dict(wait=15000, prefetch=1, sync=5, memset=0, backward=1000)
PLAN = dict(wait=3000, kernels=40, kernel=100, memset=0)


def run(name, plan, **changes):
    done = loop(plan, timeout=120, **changes)
    equal((done.status, done.misuse()), (0, []), name, "status, misuse", done.err)
    return done


def known_steps(name, done, since=0):
    """Of each step the truth is said, or nothing. [(begin, whether it is known)]"""
    ops, found = sorted(busy(done.ops), key=lambda op: op.begin), []
    long, ops = ([op for op in ops if (op.end - op.begin > 100 * MS) == which] for which in (True, False))
    begins = [op.begin for op in ops]
    for row in done.query("SELECT * FROM batch WHERE step_ns NOT NULL AND begin_ns >= ?"
                          " ORDER BY begin_ns", since):
        begin, end = row["begin_ns"], row["begin_ns"] + row["step_ns"]
        found.append((begin, row["gpu_busy_ns"] is not None))
        near_by = long + ops[bisect.bisect(begins, begin - 100 * MS):bisect.bisect(begins, end)]
        if found[-1][1]:
            near(row["gpu_busy_ns"], union(near_by, begin, end), name, "busy in step", row["batch"],
                 slack=60_000)
    return found


def all_known(name, done, steps, verdict=None):
    found = known_steps(name, done)
    say(name, "{} of {} steps known".format(sum(known for _, known in found), len(found)))
    equal((len(found), all(known for _, known in found)), (steps, True), name, "steps, all known")
    equal(done.query("SELECT * FROM gap"), [], name, "gaps")
    said = json.loads(report("--json", done.database).out)
    if verdict:
        equal((said["clock"], said["verdict"]), ("gpu", verdict), name, "verdict")


def rate(steps, kernels, kernel, verdict="not_input_bound", **more):
    def test(name):
        plan = dict(AHEAD, steps=steps, kernels=kernels, kernel=kernel, **more)
        all_known(name, run(name, plan), steps, verdict)
    return test


def long_kernels(name):
    all_known(name, run(name, dict(AHEAD, steps=4, kernels=2, kernel=2_500_000, wait=1000)), 4)


def empty(name):
    """Buffers that come back with nothing in them."""
    all_known(name, run(name, dict(PLAN, steps=200), FAKE_CUPTI_EMPTY_EVERY=2), 200)


def lost(name):
    """One that never comes back: nothing is said of its time, and the truth of all other."""
    done = run(name, dict(PLAN, steps=400), FAKE_CUPTI_KEEP_BUFFER=2)
    gaps = done.query("SELECT * FROM gap")
    if not equal([gap["why"] for gap in gaps], ["CUPTI did not give back a buffer"], name, "gaps"):
        return
    found = known_steps(name, done)
    before = [known for begin, known in found if begin < gaps[0]["begin_ns"] - 50 * MS]
    after = [known for begin, known in found if begin > (gaps[0]["end_ns"] or begin)]
    say(name, "{} steps, {} before, {} after, {} not known".format(
        len(found), len(before), len(after), sum(not known for _, known in found)))
    check(before and all(before), name, "known before", before)
    check(len(after) > 200 and all(after), name, "known after", after)
    # It has place for 1,213 records.
    check(20 <= sum(not known for _, known in found) <= 40, name, "not known", found)


def late(name):
    """Records that get their place when their operation has ended: once that is seen, what is known is cut back."""
    plan = dict(PLAN, steps=1000, kernels=100, kernel=40, helpers=1, helper=3_000_000)
    done = run(name, plan, FAKE_CUPTI_PLACE_LATE=1)
    first = min(op.end for op in done.ops if op.name == "helper")
    found = known_steps(name, done, first + 200 * MS)
    check(sum(known for _, known in found) > 200, name, "known", found)
    notes = done.query("SELECT text FROM note WHERE text LIKE '%older than the buffers%'")
    equal(len(notes), 1, name, "notes", notes)


CASES = {
    "one": rate(9, 1, 1_000_000, None),
    "slow": rate(330, 10, 3250),
    "threads": rate(330, 10, 3250, helpers=6),
    "fast": rate(200, 40, 800),
    "long": long_kernels,
    "empty": empty,
    "lost": lost,
    "late": late,
}


def main():
    need_shim()
    with concurrent.futures.ThreadPoolExecutor(7) as pool:
        list(pool.map(lambda name: CASES[name](name), sys.argv[1:]))
    finish()


main()
