# SPDX-License-Identifier: Apache-2.0
"""Cores that another program takes are seen, and not promised to more workers.

usage: others.py. A training whose two workers need all of one core, alone on it and beside a
program that never stops: the same training in both, and what it is told.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
import trainings  # noqa: E402

# On one core: 2 s of it for the loads, which two workers share with the main process.
PLAN = {"workers": 2, "batches": 200, "load_s": 0.01, "cpu_share": 1, "step_s": 0.002, "cores": 1}
CORE = sorted(os.sched_getaffinity(0))[0]
ENOUGH = 0.75  # of what the other program used; the windows are not quite the same
NO_GAIN = 0.15


BUSY = """
import sys, time
last = 0
with open(sys.argv[1], "w") as file:
    while True:
        now = time.monotonic_ns()
        if now - last > 50000000:
            print(now, time.process_time_ns(), file=file, flush=True)
            last = now
"""


class Other:
    """A busy program on the core, and how much of it it got while the training ran."""

    def __init__(self):
        self.path = os.path.join(t.scratch(), "busy")
        self.child = subprocess.Popen([sys.executable, "-c", BUSY, self.path],
                                      preexec_fn=lambda: os.sched_setaffinity(0, [CORE]))

    def stop(self):
        self.child.kill()
        self.child.wait()

    def cores(self, truth):
        with open(self.path) as file:
            stamps = [tuple(map(int, line.split())) for line in file if line.endswith("\n")]
        stamps = [at for at in stamps if truth[0]["begin"] <= at[0] <= truth[-1]["end"]]
        return (stamps[-1][1] - stamps[0][1]) / (stamps[-1][0] - stamps[0][0])


def train(name):
    for run in trainings.run([(name, PLAN)]):
        found = run.report()
        twice, = (row["gain"] for row in found["whatif"] if row["id"] == "workers_x2")
        t.say("{}: {:.1f} batches/s, others {:.2f} of {} core, {}, twice the workers {:+.0%}".format(
            name, trainings.rate(PLAN, run.truth, 2), found["workers"]["other_cores"],
            found["workers"]["cores"], found["cause"], twice))
        return found["workers"]["other_cores"], twice, found["cause"], run
    return None


def main():
    t.need_torch()
    t.need_shim()
    alone = train("alone")
    other = Other()
    try:
        beside = train("beside")
    finally:
        other.stop()
    if alone and beside:
        cores = other.cores(beside[3].truth)
        t.say("the other program had {:.2f} of the core".format(cores))
        # Whatever else runs on this machine only adds to it.
        t.check(beside[0] >= ENOUGH * cores, "others", beside[0], "of", cores)
        t.check(beside[0] <= 1.02, "others have more than there is", beside[0])
        t.check(alone[0] < beside[0] - 0.5 * ENOUGH * cores, "alone", alone[0], beside[0])
        t.check(beside[1] < NO_GAIN, "twice the workers would bring", beside[1])
        t.equal(beside[2], "cpu_contention")
        said = t.report(beside[3].database)
        t.check("other programs took" in said.out, said.out)
    t.finish()


main()
