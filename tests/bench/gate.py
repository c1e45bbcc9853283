# SPDX-License-Identifier: Apache-2.0
"""How often the gate fails between real runs of the same code, and how often it catches +25 % load.

A pool of runs of each training of gate_host.py, in turns with runs whose loads are a quarter longer;
then gates of `dlprof-report gate` that each take one run and five others of the pool at random.

usage: gate.py [FOLDER [TRAINING...]]: keeps the runs there, and takes those that are there already.
TEST_RUNS (20) unchanged runs of each training, half as many changed ones; TEST_DRAWS (15) gates a
run, twice as many of the changed.
"""
import json
import os
import random
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gate_host.py")
RUNS = int(os.environ.get("TEST_RUNS", "20"))
DRAWS = int(os.environ.get("TEST_DRAWS", "15"))
BASELINES = 5
FACTOR = 1.25


def train(kind, factor, images, path):
    if os.path.exists(path):
        return
    part = path + ".part"
    result = t.run([t.PYTHON, HOST, kind, str(factor), images], timeout=600,
                   env=t.environment(DLPROF_OUT=part, DLPROF_QUIET="1"))
    t.equal(result.status, 0, kind, result.err)
    t.wait_for_drain(part)
    os.rename(part, path)


def gate(run, baselines, *options):
    result = t.report("gate", run, *options, "--json", "--baseline", *baselines)
    found = json.loads(result.out)
    t.check(result.status == found["exit_status"] and result.status in (0, 1), run, result.status,
            found["why"], result.err)
    return found


def gates(runs, pool, draws, chance):
    """(how many failed, how many a fixed limit of 3 pp would have, of how many)"""
    failed = fixed = count = 0
    for run in runs:
        others = [other for other in pool if other != run]
        for _ in range(draws):
            found = gate(run, chance.sample(others, BASELINES))
            failed += found["exit_status"] == 1
            fixed += found["assertions"][0]["found"] > 0.03
            count += 1
    return failed, fixed, count


def measure(kind, images, folder):
    pool, changed = [], []
    for i in range(RUNS):
        pool.append(os.path.join(folder, "{}-{:02}.db".format(kind, i)))
        train(kind, 1, images, pool[-1])
        if i % 2:
            changed.append(os.path.join(folder, "{}-longer-{:02}.db".format(kind, i)))
            train(kind, FACTOR, images, changed[-1])
    chance = random.Random(1)
    found = [gate(run, pool[:BASELINES + 1], "--on-inconclusive", "pass") for run in pool + changed]
    ratios = [each["runs"][0]["stall_ratio"] for each in found]
    for name, values in (("as it is", ratios[:RUNS]), ("longer", ratios[RUNS:])):
        t.say("{} {}: {} runs, {:.0f} batches, stall ratio {:.1%} to {:.1%}, SD {:.2f} pp"
              .format(kind, name, len(values), found[0]["runs"][0]["batches"], min(values),
                      max(values), statistics.stdev(values) * 100))
    alike = gates(pool, pool, DRAWS, chance)
    longer = gates(changed, pool, 2 * DRAWS, chance)
    own = json.loads(t.report("gate", "--calibrate", "--json", *pool).out)["calibration"]
    return (kind, alike, longer, own)


def main():
    t.need_shim()
    t.need_torch()
    folder = sys.argv[1] if len(sys.argv) > 1 else t.scratch()
    os.makedirs(folder, exist_ok=True)
    images = t.example_images()
    rows = [measure(kind, images, folder) for kind in sys.argv[2:] or ("sleep", "images")]
    t.say("\nnothing changed   gates  failed  (a fixed +3 pp: failed)")
    for kind, (failed, fixed, count), _, _ in rows:
        t.say("{:16} {:6} {:7} {:10}".format(kind, count, failed, fixed))
    t.say("\nloads +25 %       gates  failed")
    for kind, _, (failed, _, count), _ in rows:
        t.say("{:16} {:6} {:7}".format(kind, count, failed))
    t.say("\n--calibrate       gates  failed  caught half of the time, 19 of 20")
    for kind, _, _, own in rows:
        t.say("{:16} {:6} {:7}  {:+.1f} pp, {:+.1f} pp".format(
            kind, own["gates"], own["false_alarms"], own["detectable50"] * 100,
            own["detectable95"] * 100))
    t.finish()


main()
