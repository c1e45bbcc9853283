# SPDX-License-Identifier: Apache-2.0
"""The check that all reports of the tests pass finds each contradiction: each is planted once, in a
report that has none."""
import copy
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import consistent  # noqa: E402
import dlprof_test as t  # noqa: E402
import rundb  # noqa: E402


def step(found, **changes):
    found["advice"][0].update(changes)


def row(found, name):
    return next(row for row in found["whatif"] if row["id"] == name)


def line(share, **changes):
    return dict({"phase": "load", "role": "worker", "file": "a.py", "line": 1, "function": "f",
                 "share": share, "error": 0.1, "samples": 30}, **changes)


def swap(causes):
    causes.append({"id": "delivery", "s": causes[0]["s"] / 2, "share": 0})
    causes.reverse()


# The planted contradiction, and a word of the complaint.
FAULTS = (
    ("a part that is too large", "parts sum",
     lambda found: found["stall"].update(receiving=found["stall"]["receiving"] + 0.01)),
    ("a ratio of other seconds", "wait_s / time_s",
     lambda found: found["stall"].update(wait_s=found["stall"]["wait_s"] * 1.01)),
    ("another ceiling", "gain_max", lambda found: found["stall"].update(gain_max=1.1)),
    ("a ceiling that is lower without workers", "gain_alone is",
     lambda found: found["stall"].update(gain_alone=found["stall"]["gain_max"] / 2)),
    ("the word of another band", "not_input_bound",
     lambda found: found.update(verdict="not_input_bound")),
    ("a run that does not starve", "starved is", lambda found: found.update(starved=False)),
    ("another cause", "the first is", lambda found: found.update(cause="delivery")),
    ("the smaller cause first", "not sorted", lambda found: swap(found["causes"])),
    ("more seconds than were waited", "of waiting",
     lambda found: found["causes"][0].update(s=found["stall"]["wait_s"] * 1.1)),
    ("a cause that is not its part", "its part is",
     lambda found: found["causes"].append({"id": "delivery", "s": 0, "share": 0.5})),
    ("a cause twice", "stands twice",
     lambda found: found["causes"].append(dict(found["causes"][-1], s=0))),
    ("no advice", "what to do is", lambda found: found.update(advice=[])),
    ("advice that is none", "what to do is",
     lambda found: step(found, id="none", whatif=None, gain=None)),
    ("advice that does not say how", "does not say how", lambda found: step(found, how=None)),
    ("a gain that is not its row's", "its row is",
     lambda found: step(found, gain=found["advice"][0]["gain"] + 0.01)),
    ("a gain of a row that is not there", "its row is",
     lambda found: step(found, whatif="nothing")),
    ("a prediction that is a bound", "and a bound", lambda found: step(found, at_most=True)),
    ("a bound beyond the ceiling", "of at most",
     lambda found: step(found, whatif=None, at_most=True, gain=found["stall"]["gain_alone"])),
    ("what is advised does not help", "does not help",
     lambda found: found["not_useful"].append({"id": found["advice"][0]["whatif"], "why": ""})),
    ("an advice twice", "stands twice", lambda found: found["advice"].append(found["advice"][0])),
    ("a range without its point", "does not hold it",
     lambda found: row(found, "workers_x2").update(ci95=[1, 2])),
    ("another gain of an ideal loader", "an ideal loader gains",
     lambda found: row(found, "synthetic").update(gain=found["stall"]["gain_max"])),
    ("a line twice", "stands twice", lambda found: found.update(lines=2 * [line(0.2)])),
    ("lines that are more than all", "more than all",
     lambda found: found.update(lines=[line(0.6), line(0.6, line=2)])),
    ("a line that is certain", "without an error",
     lambda found: found.update(lines=[line(1, error=0)])),
    ("a run that is not as it was", "of measured",
     lambda found: row(found, "baseline").update(batches_per_s=1, ci95=None)),
)


def main():
    path = rundb.lockstep(os.path.join(t.scratch(), "run.db"))
    whole = json.loads(t.report("--json", path).out)
    for what, word, plant in FAULTS:
        found = copy.deepcopy(whole)
        plant(found)
        wrong = [line for line in consistent.check(found) if line not in consistent.check(whole)]
        t.check(any(word in line for line in wrong), what, "is not seen:", wrong)
    t.equal(consistent.check(whole), [], "a report that has none")
    t.finish()


main()
