# SPDX-License-Identifier: Apache-2.0
"""The manual has every key that --json prints, with its type."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlprof_test as t
import rundb
from gate_runs import Runs

PROGRAM = os.path.join(t.BUILD, "analyzer", "dlprof")
TYPES = {"text": str, "integer": int, "seconds": (int, float), "number": (int, float),
         "share": (int, float), "bool": bool, "object": dict, "[low, high]": list, "null": (),
         "text, integer or bool": (str, int, bool)}


def manual(page):
    """Returns the manual's sections on JSON: {title: {key: (type, meaning)}}."""
    with open(os.path.join(t.BUILD, "analyzer", "manual", page), encoding="utf-8") as file:
        text = file.read().replace("\\-", "-").replace("\\e", "\\")
    text = text.split("\n.SH JSON\n")[1].split("\n.SH ")[0]
    sections = {}
    for part in text.split('\n.SS "')[1:]:
        rows = re.findall(r"^\.TP\n\\fB(\S+) \((.*)\)\\fR\n((?:[^.].*\n?)+)", part, re.M)
        t.equal(len(rows), part.count("\n.TP\n"), "entries that can be read", part[:40])
        sections[part.split('"')[0]] = {key: (kind, said.strip()) for key, kind, said in rows}
    return sections


def check_value(said, path, value, where):
    """Checks that a value, and all values in it, have the types in the manual."""
    if path.endswith(".NAME"):
        said = dict(said, **{path: ("object", "")})
    if path + "[]" in said:
        path += "[]"
        t.check(value is None or isinstance(value, list), where, path, "is no list", value)
        values = value or []
    else:
        t.check(path in said, where, "the manual lacks", path)
        values = [value]
    kind, meaning = said.get(path, ("null", ""))
    for one in values:
        fits = one is None or kind in ("list", "list of objects") or isinstance(one, TYPES[kind])
        t.check(fits and (kind in ("bool", "text, integer or bool") or not isinstance(one, bool)),
                where, path, kind, one)
        names = re.search(r"NAME is one of ([^.]*)", meaning)
        for key, inner in one.items() if isinstance(one, dict) and not is_open(said, path) else ():
            if names:
                t.check(key in re.split(r",\s+", names.group(1)), where, path, "has no", key)
                key = "NAME"
            check_value(said, path + "." + key, inner, where)


def is_open(said, path):
    """Returns whether a value's keys are not dlprof's own, as a query's columns or another document's."""
    return not any(key.startswith(path + ".") for key in said)


def check(said, out, schema, where):
    found = json.loads(out)
    t.equal(found.pop("schema", None), schema, where)
    t.check(schema in where, where)
    for key, value in found.items():
        check_value(said, key, value, where)
    top = [key for key in said if not re.search(r"[.]|\[\].", key)]
    return found, top


def report(*arguments):
    result = t.report(*arguments)
    t.check(result.status in (0, 1, 3) and not result.err, arguments, result.err)
    return result.out


def check_reports(folder):
    said = manual("dlprof-report.1")
    title = {name.split(":")[0]: name for name in said}

    def of(name, *arguments):
        return check(said[title[name]], report("--json", *arguments), title[name].split(": ")[1],
                     "{} {}".format(title[name], arguments))

    plain, device = os.path.join(folder, "plain.db"), os.path.join(folder, "gpu.db")
    rows = rundb.simulate(400, 2, 200, 50, epochs=2)
    rundb.build(plain, [rundb.loader(rows, workers=2)])
    for row in rows:
        row.update(gpu_busy_ns=row["compute_ns"] // 2, gpu_idle_wait_ns=row["wait_ns"])
    rundb.build(device, [rundb.loader(rows, workers=2)], meta={"clock": "gpu", "gpu": "H200"})
    for path in (plain, device):
        found, top = of("A run", path)
        t.equal(list(found), [key.replace("[]", "") for key in top], "all keys, in their order")
        of("Batches", "batches", path)
    t.check(json.loads(report("--json", device))["gpu"]["device"], "a run with a GPU")
    of("Two runs", "compare", plain, device)
    runs = Runs(t.scratch())
    of("A gate", "gate", runs.slow, "--baseline", runs.base)
    of("A gate's errors", "gate", "--calibrate", runs.base)
    job = rundb.job(t.scratch(), [1, 1, 90, 1])
    found, top = of("A job", job)
    t.equal(list(found), [key.replace("[]", "") for key in top], "all keys, in their order")
    other = t.scratch()
    for name, late in (("71", [1, 1, 90]), ("72", [1, 1])):
        for rank in range(len(late)):
            rundb.rank(os.path.join(other, "{}-{}.db".format(name, rank)), rank, late, job_id=name)
    jobs = said[title["Several jobs"]]
    jobs = dict(jobs, **{"jobs[]." + key: row for key, row in said[title["A job"]].items()})
    check(jobs, report("--json", other), "dlprof.report/3", title["Several jobs"])


def check_programs():
    said = manual("dlprof.1")
    for title, arguments in (("Patterns: dlprof.demo/1", ("demo",)),
                             ("What is seen: dlprof.doctor/1", ("doctor",))):
        result = t.run([PROGRAM] + list(arguments) + ["--json"], env=t.environment(preload=False))
        check(said[title], result.out, title.split(": ")[1], title)


def main():
    check_reports(t.scratch())
    check_programs()
    t.finish()


main()
