# SPDX-License-Identifier: Apache-2.0
"""Policies: each line is an assertion, and a mistake in one is named with its line."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
from gate_runs import POLICY, Runs, gate  # noqa: E402



def check_policy(runs):
    policy = runs.at("policy", POLICY)
    found = json.loads(gate("--json", runs.slow, "--policy", policy, "--baseline", runs.base).out)
    t.equal([(row["level"], row["metric"], row["outcome"], row["line"], row["column"])
             for row in found["assertions"]],
            [("error", "stall.ratio", "failed", 2, 1),
             ("error", "stall.ratio.increase", "failed", 3, 1),
             ("warn", "stall.wait_p99", "failed", 4, 1),
             ("error", "stall.batches", "failed", 5, 1),
             ("warn", "workers.load_mean", "failed", 6, 1),
             ("error", "loss.share", "passed", 7, 1),
             ("warn", "stall.receiving", "failed", 8, 1),
             ("error", "stall.wait_p50", "passed", 9, 1)])
    t.check(0.05 < found["assertions"][4]["found"] < 0.06, "times are seconds",
            found["assertions"][4])
    warn = runs.at("warn", "warn stall.ratio <= 1%\nwarn stall.ratio.increase <= 3pp\n")
    result = gate("--json", runs.slow, "--policy", warn)
    t.equal((result.status, json.loads(result.out)["outcome"]), (0, "passed"), "warnings only warn")
    own = runs.at("else", "error stall.ratio <= 10% else=warn\n")
    t.equal(gate(runs.short, "--policy", own).status, 0, "else=warn")
    t.equal(gate(runs.short, "--policy", runs.at("else", "error stall.ratio <= 10% else=fail\n"),
                 "--on-inconclusive", "pass").status, 3, "a line's else= comes first")
    for text, words in (("error stall.ratio <= 10%\n  warn stall.p <= 3\n", ":2:8: 'stall.p' is no"),
                        ("", ":1:1: the policy asserts nothing"),
                        ("error stall.ratio <= 1\0\nerror", "not a text")):
        bad = runs.at("bad policy", text)
        result = gate(runs.same, "--policy", bad)
        t.equal((result.status, result.out), (2, ""), text)
        t.check(bad in result.err and words in result.err, result.err)
    result = gate(runs.same, "--policy", policy, "--min-effect", "5pp")
    t.check(result.status == 2 and ":3:1: the policy sets" in result.err, result.err)


def main():
    runs = Runs(t.scratch())
    check_policy(runs)
    t.finish()


main()
