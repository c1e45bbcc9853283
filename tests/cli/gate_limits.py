# SPDX-License-Identifier: Apache-2.0
"""--limit and --warn work, also one a line in @FILE, and a mistake in one is named."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
from gate_runs import LIMITS, Runs, gate  # noqa: E402

EVERY = {  # {metric: (a limit that holds, the value in JSON)}
    "stall.ratio": ("<=100%", 1), "stall.trimmed_ratio": ("<=1", 1), "stall.not_ready": ("<=100 %", 1),
    "stall.receiving": ("<=99.5%", 0.995), "stall.sampling": ("<=50%", 0.5),
    "stall.epoch_start": ("<=50%", 0.5), "stall.epoch_end": ("<=50%", 0.5), "stall.startup": ("<=1000s", 1000),
    "stall.wait_p50": ("<=0.5s", 0.5), "stall.wait_p99": ("<=2500ms", 2.5),
    "workers.load_mean": ("<=900000us", 0.9), "stall.batches": (">=300", 300),
    "stall.steady_batches": (">=300", 300), "loss.share": ("<=0.001", 0.001),
    "gpu.idle": ("<=10%", 0.1), "gpu.collectives_alone_share": ("<=5%", 0.05),
    "stall.ratio.increase": ("<=2.5pp", 0.025)}


def check_limits(runs):
    options = runs.at("options", LIMITS)
    found = json.loads(gate("--json", runs.slow, "@" + options, "--baseline", runs.base).out)
    t.equal([(row["level"], row["assertion"], row["outcome"]) for row in found["assertions"]],
            [("error", "stall.ratio <= 10%", "failed"),
             ("error", "stall.ratio.increase <= 3pp", "failed"),
             ("warn", "stall.wait_p99 <= 1ms", "failed"),
             ("error", "stall.batches >= 1000", "failed"),
             ("warn", "workers.load_mean <= 41ms", "failed"),
             ("error", "loss.share <= 0.5%", "passed"),
             ("warn", "stall.receiving <= 0.1%", "failed"),
             ("error", "stall.wait_p50 <= 900ms", "passed")])
    t.equal(found["policy"], options)
    t.check(0.05 < found["assertions"][4]["found"] < 0.06, "times are seconds", found["assertions"][4])
    same = gate("--json", "--baseline", runs.base, "--", runs.slow, "@" + options)
    t.equal(json.loads(same.out)["assertions"], found["assertions"], "behind --, and after the run")
    warn = gate("--json", runs.slow, "--warn", "stall.ratio<=1%", "--warn", "stall.ratio.increase <= 3pp")
    t.equal((warn.status, json.loads(warn.out)["outcome"]), (0, "passed"), "warnings only warn")
    both = gate("--json", runs.slow, "--limit", "stall.ratio<=90%", "--max-stall-ratio", "5%")
    t.equal([row["limit"] for row in json.loads(both.out)["assertions"]], [0.9, 0.05])
    apart = json.loads(gate("--json", runs.slow, "--baseline", runs.base, "--rule", "separation", "--limit",
                            "stall.ratio.increase<=3pp").out)["assertions"]
    t.equal([(row["metric"], row["rule"]) for row in apart], [("stall.ratio.increase", "separation")])


def check_every(runs):
    """Tries each metric that --explain gate names, with each unit."""
    page = t.report("--explain", "gate").out
    arguments = [word for metric, (limit, _) in EVERY.items() for word in ("--warn", metric + limit)]
    found = json.loads(gate("--json", runs.same, "--baseline", runs.base, *arguments).out)["assertions"]
    t.equal({row["metric"]: row["limit"] for row in found},
            {metric: value for metric, (_, value) in EVERY.items()})
    for row in found:
        t.check(row["metric"] in page, row["metric"], "is not explained")
        unseen = row["metric"].startswith("gpu.") or row["metric"] == "stall.sampling"
        t.equal(row["outcome"], "inconclusive" if unseen else "passed", row)


def check_few(runs):
    """--on-few-baselines decides only where there are too few baselines."""
    few = ["--baseline", os.path.join(runs.base, "b1.db"), "--on-few-baselines"]
    for run, what, status in ((runs.same, "warn", 0), (runs.same, "pass", 0), (runs.same, "fail", 3),
                              (runs.short, "warn", 3), (runs.slow, "warn", 1)):
        t.equal(gate(*few, what, "--max-stall-ratio", "10%", run).status, status, run, what)
    t.equal(gate(*few, "fail", "--on-inconclusive", "warn", runs.same).status, 3, "fail comes first")


def check_mistakes(runs):
    for limit, words in (("stall.rati<=10%", "'stall.rati' is not a metric; did you mean stall.ratio?"),
                         ("", "'' is not a metric (see --explain gate)"),
                         ("stall.ratio", "stall.ratio is followed by <="),
                         ("stall.ratio<10%", "stall.ratio is followed by <="),
                         ("stall.ratio>=10%", "stall.ratio is followed by <="),
                         ("stall.batches<=5", "stall.batches is followed by >="),
                         ("stall.ratio<=10pp", "'10pp' is not a share"), ("stall.ratio<=110%", "is not a share"),
                         ("stall.ratio<=-1%", "is not a share"), ("stall.ratio<=nan", "is not a share"),
                         ("stall.ratio<=0x1", "is not a share"), ("stall.ratio<=", "'' is not a share"),
                         ("stall.ratio<=10% else=warn", "is not a share"),
                         ("stall.ratio.increase<=3%", "is not percentage points"),
                         ("stall.wait_p99<=5", "is not a time"), ("stall.batches>=5e999", "is not a number")):
        for option in ("--limit", "--warn"):
            done = gate(runs.same, option, limit)
            t.equal((done.status, done.out, done.err.count("\n")), (2, "", 1), limit, done.err)
            t.check(option + ": " in done.err and words in done.err, words, done.err)
    for text, words in (("--limit stall.ratio<=10%\n\n error stall.ratio <= 10%\n", ":3: 'error stall.ratio"),
                        ("--limits stall.ratio<=10%\n", "unknown option --limits; did you mean --limit?"),
                        ("--limit stall.ratio<=1\0\n", "is not a text"), ("#" * 70000, "is too large"),
                        ("--why\n" * 2000, "too many options"), ("--limit stall.ratio<=1\n" * 65, "--limit: "),
                        ("--limit\n", "--limit")):
        bad = runs.at("bad options", text)
        done = gate(runs.same, "@" + bad)
        t.equal((done.status, done.out, done.err.count("\n")), (2, "", 1), text[:40], done.err)
        t.check(words in done.err, words, done.err)
    done = gate(runs.same, "--min-effect", "5pp", "--limit", "stall.ratio.increase<=3pp")
    t.check(done.status == 2 and "leave one out" in done.err, done.err)


def main():
    runs = Runs(t.scratch())
    for check in (check_limits, check_every, check_few, check_mistakes):
        check(runs)
    t.finish()


main()
