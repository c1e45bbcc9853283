# SPDX-License-Identifier: Apache-2.0
"""A job of 16 ranks on 4 machines, each with a folder of its own, folded by a launcher."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import dlprof_test as t
import rundb

MACHINES, RANKS = 4, 4


def make_job():
    """*One folder with all runs, one with a folder a machine."""
    whole, apart = t.scratch(), t.scratch()
    late = [1] * (MACHINES * RANKS - 5) + [90] + [1] * 4
    rundb.job(whole, late)
    for number in range(MACHINES * RANKS):
        folder = os.path.join(apart, str(number // RANKS))
        os.makedirs(folder, exist_ok=True)
        os.symlink(os.path.join(whole, "r{}.db".format(number)),
                   os.path.join(folder, "r{}.db".format(number)))
    return whole, apart


def check(launcher, number, changes, seconds=120):
    whole, apart = make_job()
    parts = t.scratch()
    command = "exec '{}' fold '{}/'${} -o '{}/'${}.part".format(t.REPORT, apart, number, parts, number)
    done = t.run(launcher + ["sh", "-c", command], env=t.environment(preload=False, **changes),
                 timeout=seconds)
    t.equal(done.status, 0, launcher, done.err[-2000:])
    t.equal(sorted(os.listdir(parts)), ["{}.part".format(i) for i in range(MACHINES)], done.err)
    # Where the runs are was named by way of each machine's folder.
    found, expected = t.report("fold", parts).out, t.report(whole).out
    for i in range(MACHINES):
        found = found.replace(os.path.join(apart, str(i)), whole)
    t.equal(found.replace(parts, whole), expected, "the report of partials and that of all runs")
    t.say(*[line for line in found.splitlines() if "INPUT-BOUND" in line or "Rank " in line])
