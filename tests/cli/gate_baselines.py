# SPDX-License-Identifier: Apache-2.0
"""Runs that pass become baselines, and --calibrate says how often the gate is wrong."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
from gate_runs import Runs, gate, make, report  # noqa: E402

def check_update(runs):
    folder = runs.at("kept")

    def names():
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def update(run, *options):
        return gate(run, "--baseline", folder, "--update-baseline", *options)

    t.equal((update(runs.same).status, names()), (3, []), "a gate that cannot say keeps nothing")
    result = update(runs.short, "--on-inconclusive", "warn")
    t.equal((result.status, names()), (0, []), "nor what is too short to judge")
    t.check("does not become a baseline" in result.err, result.err)
    for i in range(1, 6):
        result = update(os.path.join(runs.base, "b{}.db".format(i)), "--on-inconclusive", "warn")
        t.equal((result.status, len(names())), (0, i), result.err)
    t.equal(names()[0], "20251217T203320Z-run-b1.db-1.db", "the oldest is the first")
    result = update(runs.slow)
    t.equal((result.status, len(names())), (1, 5), "what fails is not kept")
    t.check("left as it is" in result.err, result.err)
    t.equal((update(runs.same).status, len(names())), (0, 6), "what passes is")
    result = update(runs.same)
    t.equal((result.status, len(names())), (0, 6), "once")
    t.check("the run already exists" in result.err, result.err)
    kept = names()
    imported = make(runs.at("imported.db"), seed=12, meta={"run_id": None, "start_unix_ns": None})
    for _ in range(2):
        t.equal((update(imported).status, len(names())), (0, 7), "one without an id, once")
    t.equal(set(names()) - set(kept), {"imported.db"})
    os.unlink(os.path.join(folder, "imported.db"))
    with open(os.path.join(folder, names()[5]), "rb") as kept, open(runs.same, "rb") as own:
        t.equal(kept.read(), own.read(), "whole")
    t.equal(report("-q", os.path.join(folder, names()[5])).status, 0)
    t.equal([name for name in names() if not name.endswith(".db")], [], "nothing else is left")
    result = gate(runs.same, "--baseline", "/dev/null/x", "--update-baseline", "--on-inconclusive",
                  "pass")
    t.equal(result.status, 2, "a folder that cannot be made", result.err)


def check_calibrate(runs):
    result = gate("--calibrate", runs.base, "--json")
    own = json.loads(result.out)["calibration"]
    t.equal((result.status, own["runs"], own["baselines"], own["gates"]), (0, 6, 5, 10000))
    t.equal(own["false_alarms"], 0)
    t.check(0.02 < own["detectable50"] <= own["detectable95"] < 0.06, own)
    result = gate("--calibrate", runs.base, runs.slow, runs.wide, runs.short)
    t.check("7, each gate with 5" in result.out and "1 failed at least once" in result.out, result.out)
    t.check("workers is 8 and not 4" in result.err and "200 batches" in result.err, result.err)
    rate = float(re.search(r"([\d.]+) % of 10,000", result.out).group(1))
    t.check(12 < rate < 17, "one of seven is not like the others", result.out)
    result = gate("--calibrate", runs.same, runs.slow)
    t.equal((result.status, result.out), (3, ""))
    t.check("2 runs can be compared; calibration needs 6" in result.err, result.err)


def main():
    runs = Runs(t.scratch())
    check_update(runs)
    check_calibrate(runs)
    t.finish()


main()
