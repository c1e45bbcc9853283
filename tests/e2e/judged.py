# SPDX-License-Identifier: Apache-2.0
"""Trainings with one thing wrong each are judged right: recorded, reported, compared; a table.

usage: judged.py scenarios|examples|NAME... (of scenarios.py); TRAININGS=all adds some. The real
DataLoader and the real preload; what is slow only sleeps. Others may use the machine, so what is
not right is run again, alone, twice at most.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
import trainings  # noqa: E402
from scenarios import EXAMPLES, MORE, SCENARIOS  # noqa: E402

ATTEMPTS = 3
AT_ONCE = 5
RATIO_TOLERANCE = 0.02
DELIVERED_TOLERANCE = 0.07  # of the worked example's own numbers
ROW = "{:22} {:>15} {:>6} {:>6} {:>22} {:>6} {:>7} {:>5} {:<}"
ALL = dict(SCENARIOS, **EXAMPLES)


def is_right(found, expected):
    return found in expected if isinstance(expected, set) else found == expected


def delivered(truth, seconds):
    """Batches in the first seconds, as the script itself saw them."""
    end = truth[0]["begin"] + seconds * 1e9
    return sum(line["end"] <= end for line in truth)


def judge(plan, expected, truth, found):
    """Prints a row of the table; what is wrong."""
    advice = found["advice"][0]
    said = {"verdict": found["verdict"], "cause": found["cause"], "advice": advice["id"],
            "period": found["period"]["batches"], "slow_worker": found["slow_worker"],
            "compute_period": found["compute_period"]["batches"],
            "cores": found["workers"]["cores"]}
    wrong = ["{} is {!r}".format(key, value) for key, value in said.items()
             if key in expected and not is_right(value, expected[key])]
    own = trainings.stall_ratio(plan, truth)
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
        wrong.append("{} batches in {} s".format(count, plan["seconds"]))
    return said, own, count, wrong


def run_all(names, at_once):
    """Names of those that were not judged right, with what is wrong."""
    failed = {}
    jobs = [(name, ALL[name][0]) for name in names]
    for run in trainings.run(jobs, at_once):
        plan, expected = ALL[run.name]
        found = run.report()
        if found is None:
            continue
        said, own, count, wrong = judge(plan, expected, run.truth, found)
        t.say(ROW.format(
            run.name, said["verdict"][:15].rstrip("_"), "{:.3f}".format(own),
            "{:.3f}".format(found["stall"]["ratio"]), str(said["cause"]),
            str(said["period"]), str(said["compute_period"]), str(said["slow_worker"]),
            "{} {}".format(said["advice"], count)))
        for line in wrong:
            t.say("  ", run.name, line)
        if wrong:
            failed[run.name] = wrong
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
        t.check(name not in left, name, left.get(name))
    t.finish()


main()
