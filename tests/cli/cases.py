# SPDX-License-Identifier: Apache-2.0
"""The report gives each labelled series, read by `import`, the verdict and cause of its label.

The series are no part of this tree: DLPROF_CASES names their folder. Without them the test is
skipped.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

CASES = os.environ.get("DLPROF_CASES") or os.path.join(t.ROOT, "..", "shared", "cases")
ROW = "{:5} {:>15} {:>7} {:>7} {:>8} {:>22} {:>5} {:>17} {:>9}"
GAIN_LEAST = 0.05


def import_case(case, folder):
    path = os.path.join(folder, case["id"] + ".db")
    arguments = ["import", os.path.join(CASES, case["file"]), "-o", path]
    for key, value in case["meta"].items():
        arguments += ["--meta", "{}={}".format(key, json.dumps(value))]
    result = t.report(*arguments)
    t.equal((result.status, result.out, result.err), (0, "", ""), case["id"], "import")
    return path


def best_of(found):
    """
    Returns the predictions with the largest gain, and all within a hundredth of it. The labels know twice
    the workers, not as many as are enough.
    """
    gains = {row["id"]: row["gain"] for row in found["whatif"]
             if row["id"] not in ("baseline", "synthetic", "more_workers")}
    most = max(gains.values(), default=0)
    if most < GAIN_LEAST:
        return {"none"}
    return {name for name, gain in gains.items() if gain > most - 0.01}


def worst_prediction(case, found):
    """Returns the error of the prediction whose error is largest beside its tolerance."""
    rates = {row["id"]: row["batches_per_s"] for row in found["whatif"]}
    worst = None
    for name, truth in case["expected"].get("whatif", {}).items():
        error = rates.get(name, float("inf")) / truth["batches_per_s"] - 1
        t.check(abs(error) <= truth["rel_tol"], case["id"], "what-if", name, rates.get(name), truth)
        if worst is None or abs(error) / truth["rel_tol"] > worst[1]:
            worst = error, abs(error) / truth["rel_tol"], name
    return "{:+.1%} {}".format(worst[0], worst[2]) if worst else ""


def check_ratio(expected, name, found):
    stall = found["stall"]
    t.check(abs(stall["ratio"] - expected["stall_ratio"]) <= expected["stall_ratio_tol"] / 10,
            name, "stall ratio", stall["ratio"])
    parts = sum(stall[part] or 0 for part in ("not_ready", "receiving", "sampling", "epoch_start",
                                              "epoch_end"))
    t.check(abs(parts - stall["ratio"]) < 1e-6, name, "parts", parts, stall["ratio"])
    t.equal(found["starved"], expected["starved"], name, "starved")


def check_case(case, folder):
    expected, name = case["expected"], case["id"]
    result = t.report("--json", import_case(case, folder))
    if not t.equal(result.status, 0, name, result.err):
        return
    found = json.loads(result.out)
    stall = found["stall"]
    check_ratio(expected, name, found)
    t.check(abs(stall["theta_s"] * 1e3 - expected["theta_ms"]) < 1e-3, name, "theta",
            stall["theta_s"])
    for key in ("starved_batches", "steady_batches"):
        t.equal(stall[key], expected[key], name, key)
    t.check(found["cause"] in expected["cause"], name, "cause", found["cause"])
    t.check(found["period"]["batches"] in expected["period"], name, "period", found["period"])
    t.check(found["compute_period"]["batches"] in expected["compute_period"], name,
            "compute period", found["compute_period"])
    t.equal(found["slow_worker"], expected["slow_worker"], name, "slow worker")
    t.check(found["advice"][0]["id"] in expected["advice"], name, "advice", found["advice"])
    if "best_whatif" in expected:
        t.check(best_of(found) & set(expected["best_whatif"]), name, "best", best_of(found))
    low, high = stall["ci95"]
    t.check(low <= stall["ratio"] <= high, name, "interval", stall["ci95"])
    t.say(ROW.format(name, found["verdict"][:15].rstrip("_"), "{:.4f}".format(stall["ratio"]),
                     str(found["period"]["batches"]), str(found["compute_period"]["batches"]),
                     found["cause"], str(found["slow_worker"]), worst_prediction(case, found),
                     "{:+.0%}".format(found["advice"][0]["gain"] or 0)))


def main():
    labels = os.path.join(CASES, "labels.json")
    if not os.path.exists(labels):
        t.skip("no labelled series at {}".format(CASES))
    with open(labels, encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    folder = t.scratch()
    t.say(ROW.format("case", "verdict", "ratio", "period", "compute", "cause", "slow",
                     "worst prediction", "gain"))
    for case in cases:
        check_case(case, folder)
    t.finish()


main()
