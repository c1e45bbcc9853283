# SPDX-License-Identifier: Apache-2.0
"""`dlprof-report compare A B` finds what changed, takes what did not change for noise, and refuses
runs that cannot be compared."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlprof_test as t
import rundb

UTF8 = {"LC_ALL": "C.UTF-8"}


def show(*arguments, **changes):
    return t.run([t.REPORT, "compare"] + list(arguments),
                 env=t.environment(preload=False, **dict(UTF8, **changes)))


def make(folder, name, workers=2, seed=1, meta=None, batches=400, load_ms=200, decode=None, **columns):
    rows = rundb.simulate(batches, workers, load_ms, 50, epochs=2, seed=seed)
    for row in rows:
        if decode:
            row["decode_ns"] = int(row["load_ns"] * decode)
    return rundb.build(os.path.join(folder, name + ".db"),
                       [rundb.loader(rows, workers=workers, **columns)], meta=meta)


def compare(*arguments, status=0):
    result = t.report("compare", "--json", *arguments)
    t.equal((result.status, result.err), (status, ""), arguments)
    return json.loads(result.out)


def check_text(found, text):
    """The text has the numbers of the JSON: points of the stall, and differences of times in s per 1,000."""
    flat, stall = " ".join(text.split()), found["rows"]["stall"]
    shown = re.search(r"Stall [\d.]+ % -> [\d.]+ % of the time(?:: (\S+) points| ~ noise) \((\S+) to (\S+?)(?: points)?\)", flat)
    expected = [stall["change"] if stall["differs"] else None] + stall["ci95"]
    t.check(shown and (shown.group(1) is None) == (expected[0] is None) and
            all(n is None or abs(float(s) - 100 * n) < .051 for s, n in zip(shown.groups(), expected)), expected, flat)
    for name, label in (("step", "a batch"), ("wait", "  waiting"), ("compute", "  step")):
        row = found["rows"][name]
        shown = re.search(r"^    {} +[\d.]+ +[\d.]+ +(\S+) +(\S+) to (\S+)$".format(label), text, re.M)
        expected = [row["change"] if row["differs"] else None] + row["ci95"]
        t.check(shown and all(s == "~" if n is None else abs(float(s) / 1000 - n) < 1e-6 + .001 * abs(n)
                              for s, n in zip(shown.groups(), expected)), label, expected, text)


def check_faster(folder):
    before, after = make(folder, "before"), make(folder, "after", workers=4, seed=2)
    found = compare(before, after)
    t.equal((found["schema"], found["comparable"], found["result"], found["mismatches"]),
            ("dlprof.compare/2", True, "faster", []))
    t.equal(found["changes"], [{"field": "workers", "a": 2, "b": 4}])
    t.equal((found["a"]["verdict"], found["b"]["verdict"], found["a"]["cause"], found["b"]["cause"]),
            ("highly_input_bound", "not_input_bound", "loader_capacity", "none"))
    low, high = found["speedup"]["ci95"]
    t.check(1.8 < low < found["speedup"]["factor"] < high < 2.1, found["speedup"])
    rows = found["rows"]
    for name, change in (("wait", -.049), ("step", -.049), ("stall", -.498)):
        row = rows[name]
        t.check(row["differs"] and row["ci95"][0] < row["change"] < row["ci95"][1] < 0, name, row)
        t.check(abs(row["change"] - change) < .02 * abs(change) + .001, name, row)
    for name in ("compute", "load", "open", "read", "collate", "other", "transfer"):
        t.equal(rows[name]["differs"], False, name)
    t.equal((rows["decode"]["a"], rows["decode"]["differs"]), (None, None), "not observed")
    for side, path in (("a", before), ("b", after)):
        alone = json.loads(t.report("--json", path).out)["stall"]["ratio"]
        t.equal(rows["stall"][side], alone, "the ratio is that of the run's own report")
    back = compare(after, before)
    t.equal((back["result"], back["rows"]["wait"]["differs"]), ("slower", True))
    text = show(before, after).out
    for words in ("FASTER   1.9", "batches/s", "HIGHLY INPUT-BOUND -> NOT INPUT-BOUND",
                  "loader_capacity -> none", "workers: 2 -> 4", "s per 1,000", "95 % interval"):
        t.check(words in text, "missing:", words, text)
    check_text(found, text)
    rates = re.search(r": ([\d.]+) -> ([\d.]+) batches/s", re.sub(r"\s+", " ", text))
    for rate, side in zip(rates.groups(), "ab"):
        t.check(abs(float(rate) * rows["step"][side] - 1) < .001, rate, rows["step"], side)
    # As in the report, a step is the time without waiting.
    for name, label in (("step", "a batch"), ("wait", "  waiting"), ("compute", "  step"),
                        ("transfer", "hand-over")):
        shown = re.search(r"^    {} +([\d.]+) ".format(label), text, re.M)
        t.check(shown and abs(float(shown.group(1)) / 1000 / rows[name]["a"] - 1) < .01, label,
                rows[name], text)
    for width in (40, 60, 80):
        wide = show(before, after, COLUMNS=str(width)).out
        t.check(max(map(len, wide.splitlines())) <= width, "wider than", width, wide)
    t.check(show("--ascii", before, after).out.isascii(), "--ascii")
    out = os.path.join(folder, "out.json")
    t.equal(t.report("compare", "--json", "-o", out, before, after).out, "")
    with open(out, encoding="utf-8") as file:
        t.equal(json.load(file), found, "the same, always")


def check_parts(folder):
    """Only the part of the load is named that became longer."""
    found = compare(make(folder, "p1", workers=8, decode=.5),
                    make(folder, "p2", workers=8, decode=.6, seed=3))
    t.equal(found["result"], "no_difference", "eight workers hide it")
    t.equal([name for name, row in found["rows"].items() if row["differs"]], ["decode", "other"])
    t.check(abs(found["rows"]["decode"]["change"] - .02) < .001, found["rows"]["decode"])


def check_others(folder):
    """If other programs were busy beside only one of the runs, that may explain the difference."""
    quiet, busy = (dict(cpus="4", other_cpu_of_ns="1000", other_cpu_ns=used) for used in ("100", "1100"))
    before = make(folder, "quiet", meta=quiet)
    for name, meta, differ in (("as_quiet", quiet, False), ("busy", busy, True)):
        after = make(folder, name, workers=4, seed=2, meta=meta)
        t.equal(compare(before, after)["b"]["other_cores"], int(meta["other_cpu_ns"]) / 1000)
        text = " ".join(show(before, after).out.split())
        for words in ("took 0.1 of the 4 cores beside A, and 1.1 beside B", "unless other programs do"):
            t.equal(words in text, differ, name, text)


def check_noise(folder):
    one = make(folder, "one")
    for other in (one, make(folder, "two", seed=5)):
        found = compare(one, other)
        t.equal((found["comparable"], found["result"], found["changes"]), (True, "no_difference", []))
        t.equal([name for name, row in found["rows"].items() if row["differs"]], [], other)
        text = show(one, other).out
        check_text(found, text)
        t.check("NO DIFFERENCE" in text and "~ noise" in text and "HIGHLY INPUT-BOUND, both" in text,
                text)


def check_refusals(folder):
    one = make(folder, "base")
    for name, keywords, field, values in (
            ("size", {"batch_size": 64}, "batch_size", (32, 64)),
            ("data", {"batches": 300}, "epoch_batches", (400, 300)),
            ("kind", {"kind": "grain"}, "loader", ("torch.DataLoader", "grain")),
            ("cores", {"meta": {"cpus": "2"}}, "cores", (8, 2)),
            ("gpu", {"meta": {"frameworks": "jax"}}, "frameworks", ("torch", "jax"))):
        other = make(folder, name, **keywords)
        found = compare(one, other, status=3)
        t.equal((found["comparable"], found["result"]), (False, "not_comparable"), name)
        t.equal(found["mismatches"], [{"field": field, "a": values[0], "b": values[1]}], name)
        result = show(one, other)
        t.equal(result.status, 3, name)
        t.check("NOT COMPARABLE" in result.out and "FASTER" not in result.out and
                "{}: {} -> {}".format(field, *values) in result.out, name, result.out)
    # Another setting, host or command is no reason to refuse.
    found = compare(one, make(folder, "host", persistent=1, meta={"host": "other", "command": "x"}))
    t.equal([row["field"] for row in found["changes"]], ["persistent_workers"])
    t.equal([row["field"] for row in found["notes"]], ["command", "host"])
    few = rundb.build(os.path.join(folder, "few.db"),
                      [rundb.loader(rundb.simulate(6, 2, 200, 50), workers=2)])
    t.equal(compare(one, few, status=3)["result"], "cannot_say")
    t.check("CANNOT SAY" in show(few, one).out, "too few")
    # Two runs so short that one may be up to 27 times as fast as the other are not called equal.
    short = [rundb.build(os.path.join(folder, "short{}.db".format(seed)), [rundb.loader(
        rundb.simulate(30, 2, 200, 50, seed=seed, jitter=.95), workers=2)]) for seed in (1, 2)]
    found = compare(*short, status=3)
    t.equal(found["result"], "cannot_say", found["speedup"])
    t.check(found["speedup"]["ci95"][1] > 1.25 * found["speedup"]["ci95"][0], found["speedup"])
    text = show(*short).out
    t.check("CANNOT SAY" in text and "NO DIFFERENCE" not in text and "too short" in text, text)
    none = rundb.build(os.path.join(folder, "none.db"), [])
    t.equal(compare(none, one, status=3)["result"], "cannot_say")
    for arguments, words in (([one], "something is missing"), ([one, one, one], "one too many"),
                             ([one, "/nonexistent.db"], "/nonexistent.db"),
                             (["/nonexistent.db", one], "/nonexistent.db"),
                             ([one, __file__], "not a dlprof database"),
                             (["--csv", one, one], "--csv does not go with")):
        result = t.report("compare", *arguments)
        t.equal((result.status, result.out, result.err.count("\n")), (2, "", 1), arguments)
        t.check(words in result.err, words, result.err)


def main():
    folder = t.scratch()
    check_faster(folder)
    check_parts(folder)
    check_others(folder)
    check_noise(folder)
    check_refusals(folder)
    t.finish()


main()
