# SPDX-License-Identifier: Apache-2.0
"""How good are the predictions: each against the same training, really run with that setting.

usage: predict.py [NAME...] (of e2e/scenarios.py). A training is recorded once and its report asked
for every setting; then it is run with each of them, without dlprof, and the script's own clock says
what came of it. Loads and steps sleep. TEST_VENV names a virtual environment whose torch knows
in_order; without it that column is empty.
"""
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "e2e")]
import dlprof_test as t  # noqa: E402
import trainings  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402

AT_ONCE = 8
BATCHES = 140
SLOWER = 2.5  # than in the tests: what several trainings do to each other is then little
DEFAULT_PREFETCH = 2
GOAL = 0.05
NAMES = ["loader_bound", "spread_half", "spread_one", "head_of_line", "slow_worker",
         "periodic_slow_load", "balanced", "cpu_shared"]
GROUP = 4  # so many are measured before their rows are printed
# What needs the cores as well, on two of them: loads and steps that work for half of their time.
OTHERS = {"cpu_shared": dict(workers=2, load_s=0.04, step_s=0.008, cores=2, cpu_share=0.5,
                             step_cpu_s=0.004, batches=BATCHES // 2)}
# Name, what --what-if is asked, and what it changes in the plan.
CHANGES = [
    ("W/2", lambda p: ("workers", p["workers"] // 2)),
    ("W x 2", lambda p: ("workers", p["workers"] * 2)),
    ("W x 4", lambda p: ("workers", p["workers"] * 4)),
    ("prefetch x 4", lambda p: ("prefetch_factor", 4 * DEFAULT_PREFETCH)),
    ("load x 0.5", lambda p: ("load", 0.5)),
    ("out of order", lambda p: ("in_order", "false")),
]
CELL = "{:>16}"


def plan_of(name):
    plan = dict(OTHERS.get(name) or SCENARIOS[name][0])
    for key, value in list(plan.items()):
        if key.endswith("_s"):
            plan[key] = value * SLOWER
    plan["hangs"] = [[at * SLOWER, length * SLOWER] for at, length in plan.get("hangs", ())]
    if name not in OTHERS:
        plan["batches"] = BATCHES
    return plan


def changed(plan, key, value):
    plan = dict(plan)
    if key == "load":
        plan["load_s"] *= value
    else:
        plan[{"prefetch_factor": "prefetch"}.get(key, key)] = False if key == "in_order" else value
    return plan


def knows_in_order(python):
    look = "import torch.utils.data as d, inspect, sys; " \
           "sys.exit('in_order' not in inspect.signature(d.DataLoader.__init__).parameters)"
    return subprocess.run([python, "-W", "ignore", "-c", look]).returncode == 0


def truth_of(plan, run):
    """Rate and stall ratio once the queue has been through one round."""
    skipped = plan["workers"] * plan.get("prefetch", DEFAULT_PREFETCH)
    return (trainings.rate(plan, run.truth, skipped),
            trainings.stall_ratio(run.truth))


def predict(names, changes, python, at_once):
    """{(name, change): (batches/s, stall ratio, range)}, and what was seen of the run itself."""
    plans = {name: plan_of(name) for name in names}
    found = {}
    for run in trainings.run(list(plans.items()), at_once, python=python):
        plan = plans[run.name]
        asked = ["{}={}".format(*change(plan)) for _, change in changes]
        report = run.report(*[word for text in asked for word in ("--what-if", text)])
        rows = {row["id"]: row for row in report["whatif"]}
        for (label, _), text in zip(changes, asked):
            row = rows[text]
            found[run.name, label] = row["batches_per_s"], row["stall_ratio"], row["ci95"]
        row = rows["baseline"]
        found[run.name, "as it was"] = row["batches_per_s"], row["stall_ratio"], row["ci95"]
    return found


def measure(names, changes, python, at_once):
    jobs, plans = [], {}
    for name in names:
        plan = plan_of(name)
        for label, change in [("as it was", None)] + changes:
            job = "{}-{}".format(name, len(plans))
            plans[job] = (name, label, changed(plan, *change(plan)) if change else plan)
            jobs.append((job, plans[job][2]))
    # The longest first, so that none is left alone in the end.
    jobs.sort(key=lambda job: -max(job[1]["load_s"] / job[1]["workers"], job[1]["step_s"]))
    found = {}
    for run in trainings.run(jobs, at_once, preload=False, python=python):
        name, label, plan = plans[run.name]
        found[name, label] = truth_of(plan, run)
    return found


def quantile(values, share):
    return t.quantile(values, share) if values else float("nan")


def print_row(name, labels, predicted, measured, errors, stalls, held):
    cells = []
    for label in labels:
        rate, ratio = measured[name, label]
        guess, guessed_ratio, interval = predicted[name, label]
        error = guess / rate - 1
        cells.append(CELL.format("{:.1f} {:+.1%} {:+.2f}".format(
            rate, error, guessed_ratio - ratio)))
        errors.setdefault(label, []).append(abs(error))
        stalls.append(abs(guessed_ratio - ratio))
        if interval:
            held.append(interval[0] * 0.98 <= rate <= interval[1] * 1.02)
    t.say("{:22}".format(name), *cells)


def main():
    t.need_shim()
    venv = os.environ.get("TEST_VENV")
    python = os.path.join(venv, "bin", "python") if venv else t.PYTHON
    if not venv:
        t.need_torch()
    names = sys.argv[1:] or NAMES
    changes = CHANGES if knows_in_order(python) else CHANGES[:-1]
    labels = ["as it was"] + [label for label, _ in changes]
    errors, stalls, held = {}, [], []
    t.say("batches/s measured, predicted relative to it, and stall ratio predicted - measured")
    t.say("{:22}".format("training"), *[CELL.format(label) for label in labels])
    asleep, busy = [n for n in names if n not in OTHERS], [n for n in names if n in OTHERS]
    groups = [(asleep[i:i + GROUP], AT_ONCE) for i in range(0, len(asleep), GROUP)]
    for group, at_once in groups + [([name], 1) for name in busy]:
        predicted = predict(group, changes, python, at_once)
        measured = measure(group, changes, python, at_once)
        for name in group:
            print_row(name, labels, predicted, measured, errors, stalls, held)
    for what, share in (("median |error|", 0.5), ("90 % are within", 0.9)):
        t.say("{:22}".format(what),
              *[CELL.format("{:.1%}".format(quantile(errors[label], share))) for label in labels])
    every = [error for label in labels[1:] for error in errors[label]]
    median = statistics.median(every)
    t.say("{} predictions: median |error| {:.1%}, 90 % within {:.1%}, worst {:.1%}; stall ratio "
          "median {:.3f}, 90 % within {:.3f}".format(
              len(every), median, quantile(every, 0.9), max(every),
              statistics.median(stalls), quantile(stalls, 0.9)))
    t.say("measured within the 95 % range, or 2 % beside it: {} of {}".format(
        sum(held), len(held)))
    t.check(median <= GOAL, "median |error|", median)
    t.finish()


main()
