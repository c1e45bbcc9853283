# SPDX-License-Identifier: Apache-2.0
"""Cores that another program takes are seen, and not promised to more workers.

usage: others.py. A training whose two workers need all of one core, alone on it and beside a
program that never stops: the same training in both, and what it is told.
"""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
import trainings  # noqa: E402

# On one core: 2 s of it for the loads, which two workers share with the main process.
PLAN = {"workers": 2, "batches": 200, "load_s": 0.01, "cpu_share": 1, "step_s": 0.002, "cores": 1}
CORE = sorted(os.sched_getaffinity(0))[0]
ENOUGH = 0.75  # of what the other program used; the windows are not quite those of its life
NO_GAIN = 0.15


class Other:
    """A busy program on the core, and how much of it it got."""

    def __enter__(self):
        self.begin = time.monotonic()
        self.child = subprocess.Popen([sys.executable, "-c", "while True: pass"],
                                      preexec_fn=lambda: os.sched_setaffinity(0, [CORE]))
        return self

    def __exit__(self, *_):
        self.child.kill()
        used = os.wait4(self.child.pid, 0)[2]
        self.cores = (used.ru_utime + used.ru_stime) / (time.monotonic() - self.begin)
        self.child.returncode = 0


def train(name):
    for run in trainings.run([(name, PLAN)]):
        found = run.report()
        rate = trainings.rate(PLAN, run.truth, 2)
        twice, = (row["gain"] for row in found["whatif"] if row["id"] == "workers_x2")
        t.say("{}: {:.1f} batches/s, others {:.2f} of {} core, {}, twice the workers {:+.0%}".format(
            name, rate, found["workers"]["other_cores"], found["workers"]["cores"], found["cause"],
            twice))
        return found["workers"]["other_cores"], twice, found["cause"], run.database
    return None


def main():
    t.need_torch()
    t.need_shim()
    alone = train("alone")
    with Other() as other:
        beside = train("beside")
    t.say("the other program had {:.2f} of the core".format(other.cores))
    if alone and beside:
        # Whatever else runs on this machine only adds to it.
        t.check(beside[0] >= ENOUGH * other.cores, "others", beside[0], "of", other.cores)
        t.check(beside[0] <= 1.02, "others have more than there is", beside[0])
        t.check(alone[0] < beside[0] - 0.5 * ENOUGH * other.cores, "alone", alone[0], beside[0])
        t.check(beside[1] < NO_GAIN, "twice the workers would bring", beside[1])
        t.equal(beside[2], "cpu_contention")
        said = t.report(beside[3])
        t.check("other programs took" in said.out, said.out)
    t.finish()


main()
