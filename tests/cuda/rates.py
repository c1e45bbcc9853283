# SPDX-License-Identifier: Apache-2.0
"""The times of a step's GPU are right or NULL, at any rate of kernels and however CUPTI hands out its buffers.

usage: rates.py [--table] CASE... CASE: RATE-THREADS (306-2: 306 kernels a second, by 2 threads);
starved-RATE-THREADS; or a name in CASES. CUPTI keeps a buffer while an operation runs that has its record in
it: a busy GPU with few kernels a second gives no buffer for seconds, which must not become a gap.
"""
import bisect
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import MS, busy, check, equal, finish, loop, near, need_shim, report, say  # noqa

SECONDS = 6
RATES = 1, 10, 100, 306, 400, 667, 1000, 10000, 50000
THREADS = 1, 2, 8
LATE = 5  # value of `sync` with which the host is a step ahead of the GPU
PLAN = dict(wait=3000, kernels=40, kernel=100, memset=0)
LOST = "CUPTI did not give back a buffer"


def plan_of(rate, threads, starved=False):
    """The plan of a GPU that is busy, or waits four fifths of the time. A second thread launches half of each
    step, as autograd does; further threads have their own streams. Above 10,000 kernels a second graphs run."""
    kernel = 1_000_000 // rate
    count = max(rate // 20, min(threads, 2))
    plan = dict(kernels=count, kernel=kernel, memset=0, print=0, prefetch=1, sync=LATE,
                backward=1000 * (threads > 1), helpers=max(0, threads - 2), helper=max(kernel, 700))
    if rate > 10000:
        plan.update(kernels=500, graph=1, backward=0, helpers=threads - 1)
    step = plan["kernels"] * kernel
    plan.update(wait=4 * step, sync=1) if starved else plan.update(wait=min(15000, step // 2))
    return dict(plan, steps=max(4, SECONDS * 1_000_000 // (step * (5 if starved else 1))))


class Truth:
    """The spans of time in which at least one of the operations ran."""

    def __init__(self, ops):
        self.parts = []
        for op in sorted(ops, key=lambda op: op.begin):
            if self.parts and op.begin <= self.parts[-1][1]:
                self.parts[-1][1] = max(self.parts[-1][1], op.end)
            else:
                self.parts.append([op.begin, op.end])
        self.begins = [part[0] for part in self.parts]

    def busy(self, begin, end):
        first = max(0, bisect.bisect(self.begins, begin) - 1)
        last = bisect.bisect(self.begins, end)
        return sum(max(0, min(part[1], end) - max(part[0], begin)) for part in self.parts[first:last])


class Steps:
    """A run and its steps: found has (begin, whether its busy time is known) of each; known times are checked."""

    def __init__(self, name, plan, **changes):
        self.name = name
        self.done = loop(plan, timeout=150, FAKE_TRUTH_LAZY=1, FAKE_NODE_GAP_NS=0, **changes)
        equal((self.done.status, self.done.misuse()), (0, []), name, "status, misuse", self.done.err)
        # Helpers, on their own streams, count as loaders; not with PLACE_LATE, where a record may lie in
        # another thread's buffer, so that its thread is not known.
        apart = () if "FAKE_CUPTI_PLACE_LATE" in changes else ("helper",)
        truth = Truth(op for op in busy(self.done.ops) if op.name not in apart)
        loading = Truth(op for op in busy(self.done.ops) if op.name in apart)
        self.found, idle, total = [], 0, 0
        for row in self.done.query(
                "SELECT *, (SELECT gpu_loading_ns FROM gpu_step s WHERE s.batch = b.batch) AS loading"
                " FROM batch b WHERE step_ns NOT NULL ORDER BY begin_ns"):
            begin, end = row["begin_ns"], row["begin_ns"] + row["step_ns"]
            idle += row["wait_ns"] - truth.busy(begin, begin + row["wait_ns"])
            total += row["step_ns"]
            self.found.append((begin, row["gpu_busy_ns"] is not None))
            if self.found[-1][1]:
                near(row["gpu_busy_ns"], truth.busy(begin, end), name, "busy in step", row["batch"],
                     slack=60_000)
                near(row["loading"], loading.busy(begin, end), name, "loading in step", row["batch"],
                     slack=60_000)
        self.known = sum(known for _, known in self.found)
        self.idle = idle / max(total, 1)
        self.gaps = self.done.query("SELECT * FROM gap")
        self.said = json.loads(report("--json", self.done.database).out)
        say("{}: {} of {} steps known, {} by the {}'s clock, the GPU truly waited {:.1%}{}".format(
            name, self.known, len(self.found), self.said["verdict"], self.said["clock"], self.idle,
            "".join(", gap: " + gap["why"] for gap in self.gaps)))

    def all_known(self):
        """Checks that all steps are known, except perhaps the last: an operation of it may not have ended."""
        check(self.known >= len(self.found) - 1 > 0, self.name, "steps known", self.known, self.found)
        equal(self.gaps, [], self.name, "gaps")
        equal(self.said["clock"], "gpu", self.name, "clock")
        self.judged()

    def judged(self):
        """Checks that a verdict by the GPU's clock fits the share of time in which the GPU waited for data."""
        verdicts = {"highly_input_bound": self.idle > 0.17, "not_input_bound": self.idle < 0.07,
                    "moderately_input_bound": 0.03 < self.idle < 0.22, "incomplete": True}
        if self.said["clock"] == "gpu":
            check(verdicts[self.said["verdict"]], self.name, self.said["verdict"], self.idle)


def rate(name):
    starved = name.startswith("starved-")
    numbers = [int(number) for number in name.split("-")[starved:]]
    Steps(name, plan_of(*numbers, starved)).all_known()


def long_kernels(name):
    """Steps are known with kernels of 5 s: in all streams, and in one stream beside short kernels in another."""
    Steps(name, dict(plan_of(1, 2), steps=3, kernel=5_000_000, kernels=2)).all_known()
    Steps(name, dict(plan_of(1000, 2), helpers=1, helper=5_000_000, steps=240)).all_known()


def empty(name):
    """Steps are known where every second buffer comes back empty."""
    Steps(name, dict(PLAN, steps=200), FAKE_CUPTI_EMPTY_EVERY=2).all_known()


def fresh(name):
    """Steps are known where threads launch to the end, whose newest buffers the last flush does not find."""
    Steps(name, dict(plan_of(667, 2), steps=30, helpers=8, helper=1), FAKE_CUPTI_HAND_MS=20).all_known()


def withheld(name):
    """Steps are known where each buffer comes back 2.5 s late."""
    Steps(name, plan_of(400, 2), FAKE_CUPTI_DELAY_MS=2500).all_known()


def lost(name):
    """A buffer never comes back: the steps of its time are unknown, and all others are known."""
    for plan, buffer in (dict(PLAN, steps=400), 2), (plan_of(10000, 2), 9):
        steps = Steps(name, plan, FAKE_CUPTI_KEEP_BUFFER=buffer)
        if not equal([gap["why"] for gap in steps.gaps], [LOST], name, "gaps"):
            continue
        begin, end = steps.gaps[0]["begin_ns"], steps.gaps[0]["end_ns"]
        before = [known for at, known in steps.found if at < begin - 100 * MS]
        after = [known for at, known in steps.found if end and at > end]
        check(before and all(before), name, "known before", before)
        check(len(after) > len(steps.found) / 2 and all(after), name, "known after", after)
        # The buffer has room for 1,213 records, and its operations may have been queued for two steps.
        check(0 < len(steps.found) - steps.known <= 40, name, "not known", steps.found)
        steps.judged()


def lost_alone(name):
    """A thread's only buffer never comes back: its operations may still run, so that all steps are unknown."""
    steps = Steps(name, plan_of(10, 2), FAKE_CUPTI_KEEP_BUFFER=2)
    equal((steps.known, steps.said["clock"]), (0, "host"), name, "steps known, clock")
    equal([gap["why"] for gap in steps.gaps], [LOST], name, "gaps")


def late(name):
    """Steps are known where a record gets its place in a buffer only when its operation has ended."""
    Steps(name, plan_of(1, 2), FAKE_CUPTI_PLACE_LATE=1).all_known()
    Steps(name, dict(PLAN, steps=1000, kernels=100, kernel=40, helpers=1, helper=3_000_000),
          FAKE_CUPTI_PLACE_LATE=1).all_known()


def stolen(name):
    """A client that dlprof cannot see takes the records, and launches are not seen either: no GPU that idles."""
    steps = Steps(name, dict(plan_of(10, 1, True), driver=1, kernels=2, wait=80000, kernel=1000, steps=100),
                  FAKE_CUPTI_STEAL_AT=1, FAKE_CUPTI_FIRST_COME=1)
    equal((steps.known, steps.said["clock"]), (0, "host"), name, "steps known, clock")


def many(name):
    """dlprof gives up a buffer that never comes back in time, though 1.4 million operations come meanwhile."""
    plan = dict(plan_of(50000, 1), steps=2800, helpers=0)
    steps = Steps(name, plan, FAKE_CUPTI_KEEP_BUFFER=9)
    equal([gap["why"] for gap in steps.gaps], [LOST], name, "gaps")
    check(len(steps.found) - steps.known <= 40, name, "not known", len(steps.found) - steps.known)


CASES = {
    "long": long_kernels,
    "empty": empty,
    "fresh": fresh,
    "withheld": withheld,
    "lost": lost,
    "lost-alone": lost_alone,
    "late": late,
    "many": many,
}


def main():
    names = sys.argv[1:]
    need_shim()
    if names == ["--table"]:
        names = ["{}-{}".format(rate, threads) for rate in RATES for threads in THREADS]
    with concurrent.futures.ThreadPoolExecutor(7) as pool:
        list(pool.map(lambda name: CASES.get(name, rate)(name), names))
    finish()


main()
