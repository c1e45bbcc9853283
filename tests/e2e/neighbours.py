# SPDX-License-Identifier: Apache-2.0
"""A program that is always busy wants a whole core of the training's, also as far as it was seen for
the first time: how long it waited is known from the second look on. And it is told apart from many
others that work a little, each in a session of its own."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
import trainings  # noqa: E402

PLAN = dict(workers=2, load_s=0.01, cpu_share=1, step_s=0.002, cores=1)
# Looks may take one part in 2000 of the time: on a busy machine the third one, from which on it is
# known who waited, may come when the first of these has ended.
BATCHES = (450, 1000)
CORE = sorted(os.sched_getaffinity(0))[0]
ENOUGH = 0.91  # the kernel counts in hundredths of a second
LITTLE = """
import time
while True:
    end = time.thread_time() + 0.001
    while time.thread_time() < end:
        pass
    time.sleep(0.04)
"""
MANY = 8  # sessions


def train(batches):
    """What the database says of each kind: sort, weight, ran, wanted."""
    others = [subprocess.Popen([sys.executable, "-c", LITTLE], start_new_session=True)
              for _ in range(MANY)]
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"],
                            preexec_fn=lambda: os.sched_setaffinity(0, [CORE]))
    try:
        run, = trainings.run([("training", dict(PLAN, batches=batches))])
        t.wait_for_drain(run.database)
    finally:
        for other in [busy] + others:
            other.kill()
            other.wait()
    row, = t.rows(run.database, "SELECT value FROM meta WHERE key = 'neighbours'")
    seconds = (run.end - run.truth[0]["end"]) / 1e9
    t.say("{:.1f} s, neighbours (weight, ran, wanted): {}".format(seconds, row["value"]))
    return [kind.split() for kind in row["value"].split(";") if kind]


def main():
    t.need_shim()
    t.need_torch()
    for batches in BATCHES:
        # Single threads ("t") of the run's own group, of its own priority.
        wanted = max([float(kind[3]) for kind in train(batches)
                      if kind[:2] == ["t", "1.0000"]] or [0])
        if wanted > ENOUGH:
            break
    t.check(wanted > ENOUGH, "it wanted", wanted)
    t.finish()


main()
