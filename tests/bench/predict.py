# SPDX-License-Identifier: Apache-2.0
"""How good are the predictions: each against the same training, really run with that setting.

usage: predict.py [--keep FOLDER | --from FOLDER] [seen | unseen | BASE...] (of pairs.py)

A training is recorded (A) and its report asked what each change would bring; then it is run with
each (B), without dlprof, and the script's own clock says what came of it: A, B, A, B, of which the
medians count. Some run beside programs that are always busy. Takes a quarter of an hour, which
should be one in which the machine does nothing else. TEST_VENV names a virtual environment whose
torch knows in_order; without it such pairs are left out.
--keep: what was measured stays there; --from: it is judged once more, and nothing is run.

rate: batches over the time from the first one's arrival to the end of the last step.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "e2e")]
import dlprof_test as t  # noqa: E402
import pairs  # noqa: E402
import trainings  # noqa: E402

AT_ONCE = 4  # of those that only sleep
ROUNDS = 2
MEDIAN, MOST, HELD = 0.02, 0.08, 0.9  # the goal
GROUPS = {"seen": list(pairs.SEEN), "unseen": list(pairs.UNSEEN)}
ROW = "{:22}{:16}{:>11}{:>8.1f}{:>8.1%}{:>9.1f}{:>16}{:>9.1f}{:>8.1%}{:>6}{}"
HEAD = "{:22}{:16}{:>11}{:>8}{:>8}{:>9}{:>16}{:>9}{:>8}{:>6}"


def knows_in_order(python):
    look = "import torch.utils.data as d, inspect, sys; " \
           "sys.exit('in_order' not in inspect.signature(d.DataLoader.__init__).parameters)"
    return subprocess.run([python, "-W", "ignore", "-c", look]).returncode == 0


def rate(run):
    return len(run.truth) / (run.end - run.truth[0]["end"]) * 1e9


def asked(row):
    return ["--what-if", row] if "=" in row else []


class Base:
    """A recorded training and what is changed in it."""

    def __init__(self, name, plan, neighbours):
        self.name, self.plan, self.neighbours = name, plan, neighbours
        self.rows, self.rates, self.databases = [], {None: []}, []
        self.is_busy = name in pairs.CPU

    def add(self, row, plan):
        self.rows.append((row, plan))
        self.rates[row] = []

    def take(self, run, folder):
        self.rates[None].append(rate(run))
        t.wait_for_drain(run.database)
        kept = os.path.join(folder, "{}.db".format(os.getpid() * 1000 + len(os.listdir(folder))))
        shutil.copy(run.database, kept)
        self.databases.append(kept)

    def reports(self):
        """The lines of "whatif" by id, of each recording."""
        words = [word for row, _ in self.rows for word in asked(row)]
        for database in self.databases:
            done = t.report("--json", *words, database)
            t.equal(done.status, 0, self.name, "report", done.err)
            yield {line["id"]: line for line in json.loads(done.out)["whatif"]}


def measure(bases, python, folder):
    at_once = 1 if bases[0].is_busy else AT_ONCE
    neighbours = bases[0].neighbours
    recorded = {"{}".format(i): base for i, base in enumerate(bases)}
    changed = {"{}-{}".format(i, k): (base, row, plan) for i, base in enumerate(bases)
               for k, (row, plan) in enumerate(base.rows)}
    for _ in range(ROUNDS):
        for run in trainings.run([(job, base.plan) for job, base in recorded.items()], at_once,
                                 python=python, neighbours=neighbours):
            recorded[run.name].take(run, folder)
        for run in trainings.run([(job, plan) for job, (_, _, plan) in changed.items()], at_once,
                                 False, python, neighbours):
            base, row, _ = changed[run.name]
            base.rates[row].append(rate(run))


def median(values):
    return statistics.median(values) if values else float("nan")


def judge(base, row, reports):
    """(error, whether the range held it, error of the run as it was) of a pair."""
    measured, real = median(base.rates[None]), median(base.rates[row])
    found = [lines[row] for lines in reports if row in lines]
    beside = " ".join("nice {}".format(nice) for nice in sorted(set(base.neighbours))) or "-"
    was = median([lines["baseline"]["batches_per_s"] for lines in reports
                  if "baseline" in lines]) / measured - 1
    if not found:
        t.say("{:22}{:16}{:>11}  nothing predicted".format(base.name, row, beside))
        return None
    predicted = median([line["batches_per_s"] for line in found])
    low, high = (median([line["ci95"][i] for line in found]) for i in (0, 1))
    held = low <= real <= high
    t.say(ROW.format(base.name, row, beside, measured, was, predicted,
                     "{:.1f}-{:.1f}".format(low, high), real, predicted / real - 1,
                     "yes" if held else "NO", " /".join("{:6.1f}".format(x) for x in base.rates[row])))
    return abs(predicted / real - 1), held, abs(was)


def path_of(base, folder):
    return os.path.join(folder, "{}{}.json".format(base.name, "".join(map(str, base.neighbours))))


def keep(bases, folder):
    for base in bases:
        with open(path_of(base, folder), "w") as file:
            json.dump([base.databases, list(base.rates.items())], file)


def restore(bases, folder):
    for base in bases:
        with open(path_of(base, folder)) as file:
            base.databases, rates = json.load(file)
        base.rates.update(dict(rates))


def groups(bases):
    """So many of one kind as run at once."""
    result = []
    for base in bases:
        last = result[-1] if result else []
        if not last or len(last) == AT_ONCE or \
                (last[0].is_busy, last[0].neighbours) != (base.is_busy, base.neighbours):
            result.append([])
        result[-1].append(base)
    return result


def summarise(title, seen):
    t.say(title)
    for label, is_one in (("all", lambda b: True), ("alone", lambda b: not b.neighbours),
                          ("beside nice 19", lambda b: b.neighbours == pairs.NICE),
                          ("beside equal priority", lambda b: b.neighbours == pairs.EQUAL),
                          ("loads that use the CPU", lambda b: b.is_busy)):
        summary("  " + label, [result for base, result in seen if is_one(base)])


def check(title, seen):
    """The goal."""
    errors = [result[0] for _, result in seen]
    if not errors:
        return
    t.check(median(errors) <= MEDIAN, title, "median |error|", median(errors))
    t.check(t.quantile(errors, 0.9) <= MOST, title, "90 % of |error|", t.quantile(errors, 0.9))
    t.check(sum(r[1] for _, r in seen) >= HELD * len(seen), title, "ranges that hold")


def summary(label, found):
    errors, held = [f[0] for f in found], sum(f[1] for f in found)
    if not found:
        return
    t.say("{:28}{:>4} pairs: median |error| {:.1%}, 90 % within {:.1%}, worst {:.1%}; in the range "
          "{} of {}; as it was: median {:.1%}, worst {:.1%}".format(
              label, len(found), median(errors), t.quantile(errors, 0.9), max(errors), held,
              len(found), median([f[2] for f in found]), max(f[2] for f in found)))


def main():
    t.need_shim()
    venv = os.environ.get("TEST_VENV")
    python = os.path.join(venv, "bin", "python") if venv else t.PYTHON
    if not venv:
        t.need_torch()
    names, options = list(sys.argv[1:]), {}
    while names and names[0] in ("--keep", "--from"):
        option = names.pop(0)
        options[option] = names.pop(0)
    names = [name for word in names for name in GROUPS.get(word, [word])]
    folder = options.get("--keep") or options.get("--from") or t.scratch()
    os.makedirs(folder, exist_ok=True)
    in_order = knows_in_order(python)
    bases = {}
    for name, row, plan, changed, neighbours in pairs.every():
        if (names and name not in names) or (row == pairs.DISORDER[0] and not in_order):
            continue
        base = bases.setdefault((name, neighbours), Base(name, plan, neighbours))
        base.add(row, changed)
    t.say("batches/s; beside: programs that are always busy; error: of the prediction")
    t.say(HEAD.format("training", "change", "beside", "was", "replay", "predicted", "range", "real",
                      "error", "held"))
    found, loads, begin = [], [], time.monotonic()
    for group in groups(sorted(bases.values(), key=lambda b: (b.neighbours, b.is_busy))):
        loads.append(os.getloadavg()[0])
        if "--from" in options:
            restore(group, folder)
        else:
            measure(group, python, folder)
            keep(group, folder)
        for base in group:
            reports = list(base.reports())
            found += [(base, judge(base, row, reports)) for row, _ in base.rows]
    t.say("{:.0f} s; load average before each group: {}".format(
        time.monotonic() - begin, " ".join("{:.1f}".format(load) for load in loads)))
    seen = [(base, result) for base, result in found if result]
    # A report may refuse where the replay of the run as it was differs from it.
    t.check(len(seen) >= 0.95 * len(found), "predictions", len(seen), "of", len(found))
    t.say(len(found) - len(seen), "changes of", len(found), "had no prediction")
    for title, names in (("seen: constants were chosen on these", pairs.SEEN),
                         ("unseen: none was", pairs.UNSEEN)):
        group = [(base, result) for base, result in seen if base.name in names]
        summarise(title, group)
        check(title.partition(":")[0], group)
    t.finish()


main()
