# SPDX-License-Identifier: Apache-2.0
"""The GPU's account is complete, or it is said not to be, at any rate of kernels and however CUPTI hands out its buffers.

usage: rates.py [--table] CASE... CASE: RATE-THREADS, as 306-2; starved-RATE-THREADS; or one of CASES.
While an operation is in flight CUPTI keeps the buffer that has its record: a busy GPU with few kernels a second
gives none for seconds. That is no silence, and no gap. Of a step the truth is said, or nothing.
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
LATE = 5  # the host is a step ahead
PLAN = dict(wait=3000, kernels=40, kernel=100, memset=0)
LOST = "CUPTI did not give back a buffer"


def plan_of(rate, threads, starved=False):
    """A busy GPU, or one that waits four fifths of the time. The second thread launches half of each step, as
    autograd does; others have streams of their own. 50,000 kernels are more than the double can launch: graphs."""
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
    """When the GPU ran these."""

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
    """A run's steps: whether each is known, and when it began; what is known is compared with the truth."""

    def __init__(self, name, plan, **changes):
        self.name = name
        self.done = loop(plan, timeout=150, FAKE_TRUTH_LAZY=1, FAKE_NODE_GAP_NS=0, **changes)
        equal((self.done.status, self.done.misuse()), (0, []), name, "status, misuse", self.done.err)
        # Threads on streams of their own do not train; it does not show where a record is in the buffer of
        # who was next.
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
        """But one that ends after the last operation that had not ended when the program did began."""
        check(self.known >= len(self.found) - 1 > 0, self.name, "steps known", self.known, self.found)
        equal(self.gaps, [], self.name, "gaps")
        equal(self.said["clock"], "gpu", self.name, "clock")
        self.judged()

    def judged(self):
        """By the GPU's clock what the GPU felt, where that is clear."""
        verdicts = {"highly_input_bound": self.idle > 0.17, "not_input_bound": self.idle < 0.07,
                    "moderately_input_bound": 0.03 < self.idle < 0.22, "incomplete": True}
        if self.said["clock"] == "gpu":
            check(verdicts[self.said["verdict"]], self.name, self.said["verdict"], self.idle)


def rate(name):
    starved = name.startswith("starved-")
    numbers = [int(number) for number in name.split("-")[starved:]]
    Steps(name, plan_of(*numbers, starved)).all_known()


def long_kernels(name):
    """Of 5 s, and of one stream that has one while another goes on."""
    Steps(name, dict(plan_of(1, 2), steps=3, kernel=5_000_000, kernels=2)).all_known()
    Steps(name, dict(plan_of(1000, 2), helpers=1, helper=5_000_000, steps=240)).all_known()


def empty(name):
    """Buffers that come back with nothing in them."""
    Steps(name, dict(PLAN, steps=200), FAKE_CUPTI_EMPTY_EVERY=2).all_known()


def fresh(name):
    """Threads that launch to the end: the forced flush does not find the buffers that they are just handed."""
    Steps(name, dict(plan_of(667, 2), steps=30, helpers=8, helper=1), FAKE_CUPTI_HAND_MS=20).all_known()


def withheld(name):
    """Each comes back seconds late."""
    Steps(name, plan_of(400, 2), FAKE_CUPTI_DELAY_MS=2500).all_known()


def lost(name):
    """One that never comes back: nothing is said of its time, and the truth of all other."""
    for plan, buffer in (dict(PLAN, steps=400), 2), (plan_of(10000, 2), 9):
        steps = Steps(name, plan, FAKE_CUPTI_KEEP_BUFFER=buffer)
        if not equal([gap["why"] for gap in steps.gaps], [LOST], name, "gaps"):
            continue
        begin, end = steps.gaps[0]["begin_ns"], steps.gaps[0]["end_ns"]
        before = [known for at, known in steps.found if at < begin - 100 * MS]
        after = [known for at, known in steps.found if end and at > end]
        check(before and all(before), name, "known before", before)
        check(len(after) > len(steps.found) / 2 and all(after), name, "known after", after)
        # It has place for 1,213 records; what was launched into it may have been queued for two steps.
        check(0 < len(steps.found) - steps.known <= 40, name, "not known", steps.found)
        steps.judged()


def lost_alone(name):
    """One of a thread that needs no other: whatever it holds may be running still."""
    steps = Steps(name, plan_of(10, 2), FAKE_CUPTI_KEEP_BUFFER=2)
    equal((steps.known, steps.said["clock"]), (0, "host"), name, "steps known, clock")
    equal([gap["why"] for gap in steps.gaps], [LOST], name, "gaps")


def late(name):
    """Records that get their place when their operation has ended: the steps are measured again."""
    Steps(name, plan_of(1, 2), FAKE_CUPTI_PLACE_LATE=1).all_known()
    Steps(name, dict(PLAN, steps=1000, kernels=100, kernel=40, helpers=1, helper=3_000_000),
          FAKE_CUPTI_PLACE_LATE=1).all_known()


def stolen(name):
    """By somebody whom nobody sees, where no launch is seen either, between two buffers: not an idle GPU."""
    steps = Steps(name, dict(plan_of(10, 1, True), driver=1, kernels=2, wait=80000, kernel=1000, steps=100),
                  FAKE_CUPTI_STEAL_AT=1, FAKE_CUPTI_FIRST_COME=1)
    equal((steps.known, steps.said["clock"]), (0, "host"), name, "steps known, clock")


def many(name):
    """1.4 million operations beside a buffer that never comes back: it is given up in time."""
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
