# SPDX-License-Identifier: Apache-2.0
"""A parser of each form of the gate's answer can read it back."""
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
from gate_runs import LIMITS, Runs, annotations, gate, make  # noqa: E402
from junit import check_junit  # noqa: E402

NASTY = "a|b <c> \"q\" & 'd', 50% @all `x` \\ [y](z)\x1b\u202e\n\u2603.db"


def check_github(runs, options):
    top = runs.at("repo: a,b")
    os.makedirs(os.path.join(top, "ci"))
    shutil.copy(options, os.path.join(top, "ci", "dlprof-gate"))
    summary, output = runs.at("summary", "before\n"), runs.at("output", "x=1\n")
    arguments = [runs.slow, "@ci/dlprof-gate", "--baseline", runs.base]
    changes = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": summary, "GITHUB_OUTPUT": output,
               "GITHUB_WORKSPACE": os.path.dirname(top), "cwd": top}
    result = gate(*arguments, **changes)
    t.equal((result.status, result.err), (1, ""))
    found = annotations(result.out)
    t.equal(len(found), 5, "no more than five", found)
    t.equal([each[0] for each in found], ["error", "error", "error", "warning", "notice"])
    t.equal([each[1] for each in found[:4]],
            [{"title": "dlprof: " + limit} for limit in (
                "stall.ratio <= 10%", "stall.ratio.increase <= 3pp", "stall.batches >= 1000",
                "stall.wait_p99 <= 1ms")], "the violated limits")
    t.check("does not hold" in found[0][2] and "%" in found[0][2], found[0])
    t.check("2 more in the step summary" in found[4][2], found[4])
    t.check("FAILED" in result.out, "the text as well")
    with open(summary, encoding="utf-8") as file:
        text = file.read()
    t.check(text.startswith("before\n### dlprof gate: FAILED\n"), text)
    t.equal(len(re.findall(r"^\| (error|warn) \| .* \| .* \| .* \|$", text, re.M)), 8, text)
    with open(output, encoding="utf-8") as file:
        lines = file.read().splitlines()
    t.equal(lines[:2], ["x=1", "outcome=failed"])
    t.check(re.fullmatch(r"stall_ratio=0\.2\d+", lines[2]), lines)
    found = annotations(gate(runs.slow, **changes).out)
    t.equal([each[1] for each in found], [{"title": "dlprof: stall.ratio <= 10%"}], "no options")
    found = annotations(gate(runs.short, **changes).out)
    t.equal(found[0][0], "error", "what cannot be said")
    found = annotations(gate(runs.short, "--on-inconclusive", "warn", **changes).out)
    t.equal(found[0][0], "warning")
    t.equal(annotations(gate(runs.same, **changes).out), [], "nothing to say")
    t.equal(annotations(gate(runs.slow, "--format", "text", **changes).out), [], "as asked")


def check_files(runs, options):
    nasty = make(os.path.join(runs.folder, NASTY), load_ms=55, seed=30,
                 meta={"host": "h<&\">\x01", "run_id": "x"})
    files = {name: runs.at("out." + name) for name in ("junit", "markdown", "json")}
    forms = ",".join("{}={}".format(*each) for each in files.items())
    arguments = [nasty, runs.same, "@" + options, "--baseline", runs.base]
    result = gate(*arguments, "--format", "text," + forms)
    t.equal((result.status, result.err), (1, ""))
    t.check("\x1b" not in result.out and "\u202e" not in result.out, "controls", result.out)
    suite = check_junit(files["junit"])
    t.equal((suite.get("tests"), suite.get("failures"), suite.get("hostname")),
            ("8", "3", "h<&\">?"))
    message = suite.find("testcase/failure").get("message")
    t.check("50% @all" in message and "<c>" in message and "\u2603" in message, message)
    t.check("warning: stall.wait_p99" in suite.find("system-out").text, suite.find("system-out").text)
    with open(files["markdown"], encoding="utf-8") as file:
        text = file.read()
    t.check("\\|b &lt;c&gt;" in text and "&#64;all" in text and "\\`x\\`" in text, text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    t.check(all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in rows), "columns", rows)
    with open(files["json"], encoding="utf-8") as file:
        found = json.load(file)
    t.equal(found["schema"], "dlprof.gate/2")
    t.equal(found["runs"][0]["path"], nasty, "the path as it is")
    t.equal(sorted(found), sorted("schema outcome exit_status why policy assertions change runs "
                                  "baselines calibration".split()))
    before = os.stat(files["json"]).st_mtime_ns
    result = gate(*arguments, "--format", forms)
    t.check(result.status == 2 and "exists; -f replaces it" in result.err, result.err)
    t.equal(os.stat(files["json"]).st_mtime_ns, before, "nothing is replaced")
    t.equal(gate(*arguments, "-f", "--format", forms).status, 1, "-f")
    for target in (runs.same, os.path.join(runs.base, "b1.db"), options):
        size = os.path.getsize(target)
        for option in (["--format", "junit=" + target], ["-o", target]):
            result = gate(runs.same, "@" + options, "--baseline", runs.base, "-f", *option)
            t.check(result.status == 2 and "will not write over" in result.err, target, result.err)
        t.equal(os.path.getsize(target), size, target)
    result = gate(runs.same, "--format", "junit=" + os.path.join(runs.folder, "no", "x"))
    t.equal(result.status, 2, "what cannot be written is no pass")
    t.equal(gate(runs.same, "--format", "junit=/dev/full").status, 2, "a full disk is no pass")
    check_open_cases(runs)


def check_open_cases(runs):
    """An inconclusive assertion is an error in JUnit, or skipped if the gate lets it pass."""
    path = runs.at("open.xml")
    for action, tag, status in (("fail", "error", 3), ("warn", "skipped", 0), ("pass", "skipped", 0)):
        result = gate(runs.short, "--on-inconclusive", action, "-f", "--format",
                      "junit=" + path)
        t.equal(result.status, status, action)
        t.check(check_junit(path).find("testcase/" + tag) is not None, action)


def main():
    runs = Runs(t.scratch())
    options = runs.at("options", LIMITS)
    check_github(runs, options)
    check_files(runs, options)
    t.finish()


main()
