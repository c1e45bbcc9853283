# SPDX-License-Identifier: Apache-2.0
"""The CPU time of the training is that of its loop: what the program uses once it is done, such as
for taking its libraries down, is in no step."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
import trainings  # noqa: E402

# The interpreter, torch and the loader take some tenths of a millisecond a batch besides.
PLAN = dict(workers=2, load_s=0.01, step_s=0.02, step_cpu_s=0.004, batches=150, after_cpu_s=2)
MOST = 1.6


def main():
    t.need_shim()
    t.need_torch()
    run, = trainings.run([("training", PLAN)])
    found = run.report()
    seconds = (run.end - run.truth[0]["end"]) / 1e9
    own = PLAN["step_cpu_s"] * len(run.truth) / seconds
    cores = found["workers"]["main_cores"]
    t.say("the loop's steps used {:.3f} cores, main_cores is {:.3f}".format(own, cores))
    t.check(own * 0.7 < cores < own * MOST, "main_cores", cores, "own", own)
    t.finish()


main()
