# SPDX-License-Identifier: Apache-2.0
"""Trainings with one thing wrong each are judged right: recorded, reported, compared; a table.

usage: judged.py scenarios|examples|NAME... (of scenarios.py); TRAININGS=all adds some. The real
DataLoader and the real preload; what is slow only sleeps. Others may use the machine: what is not
right is run again, alone, a few times. Where loads and steps were late by the script's own clock
each time, or waited so much that another verdict is due, it was another training, of which is checked
what is true of any: its ratio by that clock and the verdict that follows.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
import trainings  # noqa: E402
from scenarios import EXAMPLES, HIGH, MODERATE, MORE, NOT, SCENARIOS  # noqa: E402

ATTEMPTS = 4
LATE = 0.08  # of the time; on a machine of its own it is at most 0.067
AT_ONCE = 5
RATIO_TOLERANCE = 0.02
DELIVERED_TOLERANCE = 0.07  # of the worked example's own numbers
ROW = "{:22} {:>15} {:>6} {:>6} {:>22} {:>6} {:>7} {:>5} {:<}"
ALL = dict(SCENARIOS, **EXAMPLES)


def is_right(found, expected):
    return found in expected if isinstance(expected, set) else found == expected


def verdict_of(ratio):
    return HIGH if ratio >= 0.2 else MODERATE if ratio >= 0.05 else NOT


def delivered(truth, seconds):
    """Batches in the first seconds, as the script itself saw them."""
    end = truth[0]["begin"] + seconds * 1e9
    return sum(line["end"] <= end for line in truth)


def judge(plan, expected, truth, found):
    """What is said; what is wrong with it, by the script's clock, and by the plan."""
    advice = found["advice"][0]
    said = {"verdict": found["verdict"], "cause": found["cause"], "advice": advice["id"],
            "period": found["period"]["batches"], "slow_worker": found["slow_worker"],
            "compute_period": found["compute_period"]["batches"],
            "cores": found["workers"]["cores"]}
    other = ["{} is {!r}".format(key, value) for key, value in said.items()
             if key in expected and not is_right(value, expected[key])]
    own = trainings.stall_ratio(truth)
    wrong = []
    if said["verdict"] not in (verdict_of(own - RATIO_TOLERANCE), verdict_of(own + RATIO_TOLERANCE)):
        wrong.append("verdict is {!r}".format(said["verdict"]))
    if abs(own - found["stall"]["ratio"]) > RATIO_TOLERANCE:
        wrong.append("stall ratio {:.3f}, by the script's clock {:.3f}".format(
            found["stall"]["ratio"], own))
    if found["stall"]["batches"] != len(truth):
        wrong.append("{} of {} batches".format(found["stall"]["batches"], len(truth)))
    main_cores = found["workers"]["main_cores"]
    if main_cores is None or not 0 < main_cores < 1.5:
        wrong.append("the main process used {} cores".format(main_cores))
    count = delivered(truth, plan["seconds"]) if "delivered" in expected else ""
    if count and abs(count / expected["delivered"] - 1) > DELIVERED_TOLERANCE:
        other.append("{} batches in {} s".format(count, plan["seconds"]))
    return said, own, count, wrong, other


def run_all(names, at_once):
    """Names of those that were not judged right: what is wrong, unless that they were late is why."""
    failed = {}
    jobs = [(name, ALL[name][0]) for name in names]
    for run in trainings.run(jobs, at_once):
        plan, expected = ALL[run.name]
        found = run.report()
        if found is None:
            continue
        said, own, count, wrong, other = judge(plan, expected, run.truth, found)
        late = trainings.late(plan, run.truth)
        t.say(ROW.format(
            run.name, said["verdict"][:15].rstrip("_"), "{:.3f}".format(own),
            "{:.3f}".format(found["stall"]["ratio"]), str(said["cause"]),
            str(said["period"]), str(said["compute_period"]), str(said["slow_worker"]),
            "{} {} late {:.1%}".format(said["advice"], count, late)))
        for line in wrong + other:
            t.say("  ", run.name, line)
        if wrong + other:
            as_planned = late < LATE and is_right(verdict_of(own), expected["verdict"])
            failed[run.name] = wrong + (other if as_planned else [])
    return failed


def chosen(words):
    names = []
    for word in words or ["scenarios", "examples"]:
        group = {"scenarios": SCENARIOS, "examples": EXAMPLES}.get(word)
        names += [word] if group is None else [
            name for name in group if name not in MORE or os.environ.get("TRAININGS") == "all"]
    return names


def main():
    t.need_torch()
    t.need_shim()
    names = chosen(sys.argv[1:])
    left = dict.fromkeys(names)
    t.say(ROW.format("training", "verdict", "own", "ratio", "cause", "period", "compute", "slow",
                     "advice, delivered"))
    for attempt in range(ATTEMPTS):
        left = run_all(list(left), 1 if attempt else AT_ONCE)
        if not left or t.failure_count():
            break
    for name in names:
        if t.check(not left.get(name), name, left.get(name)) and name in left:
            t.say(name, "was late each time, and judged by its own clock only")
    t.finish()


main()
