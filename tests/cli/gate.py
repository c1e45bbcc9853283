# SPDX-License-Identifier: Apache-2.0
"""The gate: every exit status, every form read back by a parser of it, and nothing that passes for
want of data."""
import json
import os
import re
import shutil
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import rundb

CLEAR = {"GITHUB_ACTIONS": None, "GITHUB_STEP_SUMMARY": None, "GITHUB_OUTPUT": None,
         "GITHUB_WORKSPACE": None, "LC_ALL": "C.UTF-8"}
NASTY = "a|b <c> \"q\" & 'd', 50% @all `x` \\ [y](z)\x1b\u202e\n\u2603.db"


def report(*arguments, cwd=None, **changes):
    return t.run([t.REPORT] + list(arguments), cwd=cwd,
                 env=t.environment(preload=False, **dict(CLEAR, **changes)))


def gate(*arguments, **keywords):
    return report("gate", *arguments, **keywords)


def make(path, load_ms=40, count=330, workers=4, seed=1, meta=None, known=True, **keywords):
    facts = {"run_id": "run-{}-{}".format(os.path.basename(path), seed),
             "start_unix_ns": str((1766000000 + 3600 * seed) * 10**9)}
    facts.update(meta or {})
    batches = rundb.simulate(count, workers, load_ms, 10, seed=seed, jitter=0.2, known=known)
    return rundb.build(path, [rundb.loader(batches, workers=workers)], meta=facts, **keywords)


class Runs:
    """What the checks are about: baselines, a run like them, a slower one, and broken ones."""

    def __init__(self, folder):
        self.folder = folder
        self.base = os.path.join(folder, "base")
        os.mkdir(self.base)
        for seed in range(1, 7):
            make(os.path.join(self.base, "b{}.db".format(seed)), seed=seed)
        self.same = make(self.at("same.db"), seed=10)
        self.slow = make(self.at("slow.db"), load_ms=55, seed=11)
        self.short = make(self.at("short.db"), count=200, seed=12)
        self.lost = make(self.at("lost.db"), seed=13, losses=[20])
        self.wide = make(self.at("wide.db"), workers=8, seed=14)
        self.empty = rundb.build(self.at("empty.db"))

    def at(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        return path


def check_statuses(runs):
    absent, bare = runs.at("absent"), runs.at("bare")
    os.mkdir(bare)
    four = [os.path.join(runs.base, "b{}.db".format(i)) for i in range(1, 5)]
    table = (
        # status, words in the first sentence, arguments
        (0, "All assertions hold", [runs.same]),
        (0, "All assertions", [runs.same, "--max-stall-ratio", "0.5"]),
        (0, "All assertions", [runs.same, "--baseline", runs.base]),
        (0, "All assertions", [runs.slow, "--max-stall-ratio", "30%"]),
        (1, "stall.ratio <= 10% does not hold: 2", [runs.slow]),
        (1, "at least", [runs.slow, "--max-stall-ratio", "20%"]),
        (1, "stall.ratio <= 10% does not hold in " + runs.slow, [runs.same, runs.slow]),
        (1, "The stall ratio rose by", [runs.slow, "--baseline", runs.base]),
        (0, "All assertions", [runs.slow, "--baseline", runs.base, "--min-effect", "40pp"]),
        (0, "All assertions", [runs.slow, "--baseline", runs.base, "--min-effect", "40pp",
                         "--max-stall-ratio", "1"]),
        (1, "stall.ratio <= 10%", [runs.slow, "--baseline", absent, "--max-stall-ratio", "10%"]),
        (3, "it has 200 batches and 300 are needed", [runs.short]),
        (3, "it has 200 batches", [runs.short, "--baseline", runs.base]),
        (3, "% of its records were lost", [runs.lost]),
        (3, "of its records were lost", [runs.lost, "--baseline", runs.base]),
        (3, "there is no verdict on it (no_batches)", [runs.empty]),
        (3, "it has 200 batches", [runs.same, runs.short]),
        (3, "there is no such file or folder", [runs.same, "--baseline", absent]),
        (3, "holds no *.db", [runs.same, "--baseline", bare]),
        (3, "4 baselines can be compared and 5 are needed",
         [runs.same, "--baseline"] + four),
        (3, "0 baselines can be compared and 5 are needed; not " + runs.base + "/b1.db: workers "
            "is 4 and not 8", [runs.wide, "--baseline", runs.base]),
        (3, "not of the same kind", [runs.same, runs.wide, "--baseline", runs.base]),
        (3, "baselines can be compared", [runs.same, "--max-stall-ratio", "1", "--baseline",
                                          absent]),
        (0, "Cannot say", [runs.short, "--on-inconclusive", "warn"]),
        (0, "Cannot say", [runs.short, "--on-inconclusive", "pass"]),
        (1, "stall.ratio <= 10%", [runs.slow, runs.short, "--on-inconclusive", "pass"]),
        (3, "all 1 runs so far are above", [runs.slow, "--baseline", runs.base, "--rule",
                                            "separation"]),
        (0, "All assertions", [runs.same, "--baseline", runs.base, "--rule", "separation"]),
        (1, "The stall ratio rose", [runs.slow, runs.slow, runs.slow, "--baseline", runs.base,
                                     "--rule", "separation"]),
    )
    for status, words, arguments in table:
        result = gate("--json", *arguments)
        t.equal((result.status, result.err), (status, ""), arguments, result.out[:600])
        found = json.loads(result.out)
        t.check(words in found["why"], arguments, found["why"])
        t.equal(found["exit_status"], status, arguments)
        inconclusive = any(row["outcome"] == "inconclusive" for row in found["assertions"])
        t.check(found["outcome"] != "passed" or not inconclusive, arguments, found["outcome"])
        t.equal(gate(*arguments).status, status, "text")
    for words, arguments in (
            ("cannot open '{}'".format(absent), [absent]),
            ("holds no *.db", [bare]),
            ("'120%' is not a share", [runs.same, "--max-stall-ratio", "120%"]),
            ("'3' is not percentage points", [runs.same, "--min-effect", "3"]),
            ("'xml' is none of text", [runs.same, "--format", "text,xml"]),
            ("junit needs a file", [runs.same, "--format", "junit"]),
            ("json is alone on standard output", [runs.same, "--format", "json,github"]),
            ("one of them", [runs.same, "--json", "--format", "text"]),
            ("cannot read '{}'".format(absent), [runs.same, "--policy", absent]),
            ("needs --baseline DIR", [runs.same, "--update-baseline"]),
            ("is not a folder", [runs.same, "--update-baseline", "--baseline", runs.slow]),
            ("--calibrate is text or --json",
             ["--calibrate", "--format", "github", runs.base]),
            ("something is missing", ["--baseline", runs.base, runs.same])):
        result = gate(*arguments)
        t.equal((result.status, result.out), (2, ""), arguments)
        t.check(words in result.err and result.err.count("\n") == 1, arguments, result.err)


def check_baselines(runs):
    """What cannot stand beside the run is left out and named; five that can are enough."""
    mixed = runs.at("mixed")
    shutil.copytree(runs.base, mixed)
    shutil.copy(runs.wide, mixed)
    shutil.copy(runs.short, mixed)
    shutil.copy(runs.slow, mixed)  # the run that is judged
    shutil.copy(os.path.join(mixed, "b1.db"), os.path.join(mixed, "copy.db"))
    make(os.path.join(mixed, "other-rank.db"), seed=20, meta={"rank": "3"})
    make(os.path.join(mixed, "other-loader.db"), seed=21)
    database = rundb.sqlite3.connect(os.path.join(mixed, "other-loader.db"))
    database.execute("UPDATE t_loader SET kind = 'tf.data', batch_size = 64")
    database.commit()
    database.close()
    found = json.loads(gate("--json", runs.slow, "--baseline", mixed).out)
    t.equal((found["exit_status"], found["assertions"][0]["baselines"]), (1, 6), found["why"])
    refused = {os.path.basename(row["path"]): row["refused"] for row in found["baselines"]
               if not row["used"]}
    for name, words in (("wide.db", "workers is 8 and not 4"), ("short.db", "200 batches"),
                        ("slow.db", "it is the run that is judged"), ("copy.db", "the same run as"),
                        ("other-rank.db", "of rank 3"),
                        ("other-loader.db", "loader is 'tf.data' and not 'torch.DataLoader'; "
                                            "batch_size is 64 and not 32")):
        t.check(words in refused.pop(name, ""), name, words, found["baselines"])
    t.equal(refused, {}, "nothing else is refused")
    starts = [row["start_unix_s"] for row in found["baselines"]]
    t.equal(starts, sorted(starts), "the oldest first")
    with open(os.path.join(mixed, "bad.db"), "w", encoding="ascii") as file:
        file.write("no database" * 100)
    result = gate(runs.slow, "--baseline", mixed)
    t.equal(result.status, 2, "a damaged baseline is an error")
    t.check("bad.db" in result.err, result.err)


def check_sentence(runs):
    """What got slower, by how much, since when, the cause's change."""
    why = json.loads(gate("--json", runs.slow, "--baseline", runs.base).out)["why"]
    t.check(re.fullmatch(
        r"The stall ratio rose by 2\d\.\d pp from 3\.\d % to 2\d\.\d % since 2025-12-18 01:33 UTC "
        r"\(.*/b6\.db\): a load takes 5\d\.\d ms instead of 40\.\d ms \(mostly the dataset's "
        r"code: 3\d\.\d ms instead of 2\d\.\d ms\); the cause is loader_capacity, before it was "
        r"none\.", why), why)
    text = re.sub(r"\s+", " ", gate(runs.slow, "--baseline", runs.base, "--why").out)
    for words in ("FAILED The stall ratio rose", "6 runs, 2025-12-17 20:33 UTC to",
                  "The workers together load fewer batches", "1. Use more workers"):
        t.check(words in text, "missing:", words, text)
    for width in ("40", "80"):
        out = gate(runs.slow, "--baseline", runs.base, COLUMNS=width).out
        t.check(all(len(line) <= int(width) for line in out.splitlines()), width, out)
    t.check("\x1b[1;31m" in gate(runs.slow, "--color", "always").out, "colour")


POLICY = """# limits
error  stall.ratio            <= 10%        # AU
error  stall.ratio.increase   <= 3pp
warn   stall.wait_p99         <= 1ms
error  stall.batches          >= 1000
warn   workers.load_mean      <= 41ms else=pass
error  loss.share             <= 0.5%
warn   stall.receiving        <= 0.1%
error  stall.wait_p50         <= 900ms
"""


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
    t.check(result.status == 2 and ":3:1: the policy says" in result.err, result.err)
    return policy


def annotations(text):
    """As GitHub reads workflow commands."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        if not match:
            continue
        properties = dict(pair.split("=", 1) for pair in match.group(2).split(","))
        decode = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}
        unescape = lambda s: re.sub("%(0D|0A|3A|2C|25)", lambda m: decode[m.group(0)], s)
        t.check(not re.search("%(?!0D|0A|3A|2C|25)", line), "a bare %", line)
        found.append((match.group(1), {k: unescape(v) for k, v in properties.items()},
                      unescape(match.group(3))))
    return found


def check_github(runs, policy):
    top = runs.at("repo: a,b")
    os.makedirs(os.path.join(top, "ci"))
    shutil.copy(policy, os.path.join(top, "ci", "dlprof-gate"))
    summary, output = runs.at("summary", "before\n"), runs.at("output", "x=1\n")
    arguments = [runs.slow, "--policy", "ci/dlprof-gate", "--baseline", runs.base]
    changes = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": summary, "GITHUB_OUTPUT": output,
               "GITHUB_WORKSPACE": os.path.dirname(top), "cwd": top}
    result = gate(*arguments, **changes)
    t.equal((result.status, result.err), (1, ""))
    found = annotations(result.out)
    t.equal(len(found), 5, "no more than five", found)
    t.equal([each[0] for each in found], ["error", "error", "error", "warning", "notice"])
    t.equal(found[0][1], {"file": "repo: a,b/ci/dlprof-gate", "line": "2", "col": "1",
                          "title": "dlprof: stall.ratio <= 10%"}, "the violated line")
    t.equal([each[1]["line"] for each in found[:4]], ["2", "3", "5", "4"])
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
    t.equal([each[1] for each in found], [{"title": "dlprof: stall.ratio <= 10%"}], "no policy")
    found = annotations(gate(runs.short, **changes).out)
    t.equal(found[0][0], "error", "what cannot be said")
    found = annotations(gate(runs.short, "--on-inconclusive", "warn", **changes).out)
    t.equal(found[0][0], "warning")
    t.equal(annotations(gate(runs.same, **changes).out), [], "nothing to say")
    t.equal(annotations(gate(runs.slow, "--format", "text", **changes).out), [], "as asked")


# What the schemas of Jenkins and Ant have in common: attributes and children, in order.
JUNIT = {
    "testsuites": (set(), ["testsuite"]),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time", "timestamp",
                   "hostname"}, ["properties", "testcase", "system-out", "system-err"]),
    "properties": (set(), ["property"]),
    "property": ({"name", "value"}, []),
    "testcase": ({"classname", "name", "time"}, ["skipped", "error", "failure"]),
    "failure": ({"message", "type"}, []),
    "error": ({"message", "type"}, []),
    "skipped": ({"message"}, []),
    "system-out": (set(), []),
    "system-err": (set(), []),
}


def check_element(element):
    attributes, children = JUNIT[element.tag]
    t.equal(set(element.attrib), attributes, element.tag)
    places = [children.index(child.tag) if child.tag in children else -1 for child in element]
    t.check(-1 not in places and places == sorted(places), element.tag, "children", places)
    for child in element:
        check_element(child)


def check_junit(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    t.equal(root.tag, "testsuites")
    check_element(root)
    suite = root[0]
    cases = suite.findall("testcase")
    t.equal(int(suite.get("tests")), len(cases))
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        t.equal(int(suite.get(count)), sum(case.find(tag) is not None for case in cases), tag)
    t.check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp")), "time")
    return suite


LABEL = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(r"([a-z0-9_]+)(?:\{(" + LABEL + "(?:," + LABEL + r")*)\})? (\S+)")


def check_openmetrics(path):
    """The text format: metadata before samples, units as suffixes, no sample twice, # EOF."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    t.check(text.endswith("# EOF\n") and text.count("# EOF") == 1 and "\n\n" not in text, text[-40:])
    family, seen, samples = None, set(), {}
    for line in text.split("\n")[:-2]:
        match = re.fullmatch(r"# (TYPE|UNIT|HELP) ([a-z0-9_]+) (.+)", line)
        if match:
            kind, name, value = match.groups()
            if kind == "TYPE":
                t.check(name not in seen and value == "gauge", line)
                seen.add(name)
                family = name
            t.equal(name, family, line)
            if kind == "UNIT":
                t.check(name.endswith("_" + value), line)
            continue
        match = SAMPLE.fullmatch(line)
        if not t.check(match, "no sample", line):
            continue
        t.equal(match.group(1), family, "of its family", line)
        key = match.group(1), match.group(2)
        t.check(key not in samples, "twice", line)
        samples[key] = float(match.group(3))
    return samples


def check_files(runs, policy):
    nasty = make(os.path.join(runs.folder, NASTY), load_ms=55, seed=30,
                 meta={"host": "h<&\">\x01", "run_id": "x"})
    files = {name: runs.at("out." + name) for name in ("junit", "markdown", "openmetrics", "json")}
    forms = ",".join("{}={}".format(*each) for each in files.items())
    arguments = [nasty, runs.same, "--policy", policy, "--baseline", runs.base]
    result = gate(*arguments, "--format", "text," + forms)
    t.equal((result.status, result.err), (1, ""))
    t.check("\x1b" not in result.out and "\u202e" not in result.out, "controls", result.out)
    suite = check_junit(files["junit"])
    t.equal((suite.get("tests"), suite.get("failures"), suite.get("hostname")),
            ("8", "3", "h<&\">?"))
    message = suite.find("testcase/failure").get("message")
    t.check("50% @all" in message and "<c>" in message and "\u2603" in message, message)
    t.check("warning: stall.wait_p99" in suite.find("system-out").text, suite.find("system-out").text)
    samples = check_openmetrics(files["openmetrics"])
    ratios = [value for (name, labels), value in samples.items() if name == "dlprof_stall_ratio"]
    t.check(len(ratios) == 2 and 0.2 < ratios[0] < 0.4 and ratios[1] < 0.05, samples)
    t.equal(samples["dlprof_gate_exit_status", None], 1)
    t.equal(sum(name == "dlprof_gate_assertion" for name, _ in samples), 8)
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
    for target in (runs.same, os.path.join(runs.base, "b1.db"), policy):
        size = os.path.getsize(target)
        for option in (["--format", "junit=" + target], ["-o", target]):
            result = gate(runs.same, "--policy", policy, "--baseline", runs.base, "-f", *option)
            t.check(result.status == 2 and "will not write over" in result.err, target, result.err)
        t.equal(os.path.getsize(target), size, target)
    result = gate(runs.same, "--format", "junit=" + os.path.join(runs.folder, "no", "x"))
    t.equal(result.status, 2, "what cannot be written is no pass")
    t.equal(gate(runs.same, "--format", "junit=/dev/full").status, 2, "a full disk is no pass")
    check_open_cases(runs)


def check_open_cases(runs):
    """What cannot be said is an error in JUnit, skipped if it is let pass, and never a sample."""
    path = runs.at("open.xml")
    for action, tag, status in (("fail", "error", 3), ("warn", "skipped", 0), ("pass", "skipped", 0)):
        result = gate(runs.short, "--on-inconclusive", action, "-f", "--format",
                      "junit={0},openmetrics={0}.txt".format(path))
        t.equal(result.status, status, action)
        t.check(check_junit(path).find("testcase/" + tag) is not None, action)
        samples = check_openmetrics(path + ".txt")
        t.check(not any(name == "dlprof_gate_assertion" for name, _ in samples), samples)


def check_update(runs):
    folder = runs.at("kept")

    def names():
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def update(run, *options):
        return gate(run, "--baseline", folder, "--update-baseline", *options)

    t.equal((update(runs.same).status, names()), (3, []), "a gate that cannot say keeps nothing")
    result = update(runs.short, "--on-inconclusive", "warn")
    t.equal((result.status, names()), (0, []), "nor what is too short to judge")
    t.check("does not become a baseline" in result.err, result.err)
    for i in range(1, 6):
        result = update(os.path.join(runs.base, "b{}.db".format(i)), "--on-inconclusive", "warn")
        t.equal((result.status, len(names())), (0, i), result.err)
    t.equal(names()[0], "20251217T203320Z-run-b1.db-1.db", "the oldest is the first")
    result = update(runs.slow)
    t.equal((result.status, len(names())), (1, 5), "what fails is not kept")
    t.check("left as it is" in result.err, result.err)
    t.equal((update(runs.same).status, len(names())), (0, 6), "what passes is")
    result = update(runs.same)
    t.equal((result.status, len(names())), (0, 6), "once")
    t.check("it already exists" in result.err, result.err)
    kept = names()
    imported = make(runs.at("imported.db"), seed=12, meta={"run_id": None, "start_unix_ns": None})
    for _ in range(2):
        t.equal((update(imported).status, len(names())), (0, 7), "one without an id, once")
    t.equal(set(names()) - set(kept), {"imported.db"})
    os.unlink(os.path.join(folder, "imported.db"))
    with open(os.path.join(folder, names()[5]), "rb") as kept, open(runs.same, "rb") as own:
        t.equal(kept.read(), own.read(), "whole")
    t.equal(report("-q", os.path.join(folder, names()[5])).status, 0)
    t.equal([name for name in names() if not name.endswith(".db")], [], "nothing else is left")
    result = gate(runs.same, "--baseline", "/dev/null/x", "--update-baseline", "--on-inconclusive",
                  "pass")
    t.equal(result.status, 2, "a folder that cannot be made", result.err)


def check_calibrate(runs):
    result = gate("--calibrate", runs.base, "--json")
    own = json.loads(result.out)["calibration"]
    t.equal((result.status, own["runs"], own["baselines"], own["gates"]), (0, 6, 5, 10000))
    t.equal(own["false_alarms"], 0)
    t.check(0.02 < own["detectable50"] <= own["detectable95"] < 0.06, own)
    result = gate("--calibrate", runs.base, runs.slow, runs.wide, runs.short)
    t.check("7, each gate with 5" in result.out and "1 failed at least once" in result.out, result.out)
    t.check("workers is 8 and not 4" in result.err and "200 batches" in result.err, result.err)
    rate = float(re.search(r"([\d.]+) % of 10,000", result.out).group(1))
    t.check(12 < rate < 17, "one of seven is not like the others", result.out)
    result = gate("--calibrate", runs.same, runs.slow)
    t.equal((result.status, result.out), (3, ""))
    t.check("2 runs can be compared; calibration needs 6" in result.err, result.err)


def check_recipe(runs):
    """examples/ci/gate.sh with a training that only takes the place of one."""
    recipe = os.path.join(t.ROOT, "examples", "ci", "gate.sh")
    policy = os.path.join(t.ROOT, "examples", "ci", "dlprof-gate")
    top = runs.at("checkout")
    os.mkdir(top)
    pool = [make(runs.at("long{}.db".format(i)), count=520, seed=40 + i) for i in range(8)]
    slow = make(runs.at("long-slow.db"), count=520, load_ms=55, seed=60)

    def ci(run, **changes):
        settings = dict(CLEAR, REPORT=t.REPORT, DLPROF_LIB="", POLICY=policy, **changes)
        return t.run(["sh", recipe, "sh", "-c", 'cp "$0" "$DLPROF_OUT"', run], cwd=top,
                     env=t.environment(preload=False, **settings))

    for i, run in enumerate(pool[:6]):
        result = ci(run, MAIN="1")
        t.equal(result.status, 0, i, result.out, result.err)
        t.equal(len(os.listdir(os.path.join(top, "dlprof-baseline"))), i + 1, result.err)
    t.equal(ci(runs.short, MAIN="1").status, 1, "a run that ended early")
    lost = make(runs.at("long-lost.db"), count=520, seed=61, losses=[40])
    t.equal(ci(lost, MAIN="1").status, 3, "lost records")
    t.equal(ci(pool[6]).status, 0, "a pull request that changes nothing")
    t.equal(len(os.listdir(os.path.join(top, "dlprof-baseline"))), 6, "and is no baseline")
    result = ci(slow, GITHUB_ACTIONS="true")
    t.equal(result.status, 1, "one that is slower", result.out, result.err)
    t.check(len(annotations(result.out)) >= 2, result.out)
    for name in ("gate.xml", "gate.md", "metrics.txt", "gate.json", "run.db"):
        t.check(os.path.getsize(os.path.join(top, "dlprof-results", name)), name)
    check_junit(os.path.join(top, "dlprof-results", "gate.xml"))
    result = t.run(["sh", recipe, "sh", "-c", "exit 7"], cwd=top,
                   env=t.environment(preload=False, **dict(CLEAR, REPORT=t.REPORT, DLPROF_LIB="")))
    t.equal(result.status, 7, "a training that fails")


def check_workflows():
    """Both files call the recipe, and keep what it writes where it is looked for."""
    try:
        import yaml
    except ImportError:
        t.say("no yaml: the workflow files are not parsed")
        return
    folder = os.path.join(t.ROOT, "examples", "ci")
    with open(os.path.join(folder, "github.yml"), encoding="utf-8") as file:
        steps = yaml.safe_load(file)["jobs"]["gate"]["steps"]
    t.equal([step["run"] for step in steps if "gate.sh" in step.get("run", "")],
            ["sh ci/gate.sh python3 train.py --epochs 2"])
    paths = [step["with"]["path"] for step in steps if "path" in step.get("with", {})]
    t.equal(paths, ["dlprof-baseline", "dlprof-baseline", "dlprof-results"])
    with open(os.path.join(folder, "gitlab.yml"), encoding="utf-8") as file:
        job = yaml.safe_load(file)["data-stall"]
    t.equal(job["script"], ["sh ci/gate.sh python3 train.py --epochs 2"])
    t.equal(job["artifacts"]["reports"], {"junit": "dlprof-results/gate.xml",
                                          "metrics": "dlprof-results/metrics.txt"})
    t.equal(job["cache"]["paths"], ["dlprof-baseline"])


def main():
    runs = Runs(t.scratch())
    check_statuses(runs)
    check_baselines(runs)
    check_sentence(runs)
    policy = check_policy(runs)
    check_github(runs, policy)
    check_files(runs, policy)
    check_update(runs)
    check_calibrate(runs)
    check_recipe(runs)
    check_workflows()
    t.finish()


main()
