# SPDX-License-Identifier: Apache-2.0
"""The gate has the right exit status (0 passed, 1 failed, 2 error, 3 inconclusive) and sentence."""
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
import rundb  # noqa: E402
from gate_runs import Runs, gate, make  # noqa: E402

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
        # One of four batches waits, so that 100 batches only show a share between 2 and 20 %.
        (3, "the loader for which it waits most has 100 batches and 300", [runs.validated]),
        (1, "stall.ratio <= 2% does not hold", [runs.validated, "--max-stall-ratio", "2%"]),
        (0, "All assertions", [runs.validated, "--max-stall-ratio", "20%"]),
        # All of 40 batches wait, which cannot be chance.
        (1, "stall.ratio <= 10% does not hold", [runs.starved]),
        (3, "the loader for which it waits most has 40 batches", [runs.starved, "--baseline", runs.base]),
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
            ("json alone on standard output", [runs.same, "--format", "json,github"]),
            ("one of them", [runs.same, "--json", "--format", "text"]),
            ("cannot read '{}'".format(absent), [runs.same, "@" + absent]),
            ("needs --baseline DIR", [runs.same, "--update-baseline"]),
            ("is not a folder", [runs.same, "--update-baseline", "--baseline", runs.slow]),
            ("--calibrate can only print text or, with --json, JSON",
             ["--calibrate", "--format", "github", runs.base]),
            ("something is missing", ["--baseline", runs.base, runs.same])):
        result = gate(*arguments)
        t.equal((result.status, result.out), (2, ""), arguments)
        t.check(words in result.err and result.err.count("\n") == 1, arguments, result.err)


def check_baselines(runs):
    """Baselines that cannot be compared with the run are named and left out; five others are enough."""
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
    """--why says what got slower, by how much and since when, and how the cause changed."""
    why = json.loads(gate("--json", runs.slow, "--baseline", runs.base).out)["why"]
    t.check(re.fullmatch(
        r"The stall ratio rose by 2\d\.\d pp from 3\.\d % to 2\d\.\d % since 2025-12-18 01:33 UTC "
        r"\(.*/b6\.db\): a load takes 5\d\.\d ms instead of 40\.\d ms \(mostly the dataset's "
        r"code: 3\d\.\d ms instead of 2\d\.\d ms\); the cause is loader_capacity, before it was "
        r"none\.", why), why)
    text = re.sub(r"\s+", " ", gate(runs.slow, "--baseline", runs.base, "--why").out)
    for words in ("FAILED The stall ratio rose", "6 runs, 2025-12-17 20:33 UTC to",
                  "The workers cannot keep up with the training.", "1. Use more workers"):
        t.check(words in text, "missing:", words, text)
    for width in ("40", "80"):
        out = gate(runs.slow, "--baseline", runs.base, COLUMNS=width).out
        t.check(all(len(line) <= int(width) for line in out.splitlines()), width, out)
    t.check("\x1b[1;31m" in gate(runs.slow, "--color", "always").out, "colour")


def check_odd(runs):
    """A baseline far above the others hides a rise: it is named, and only if the run fails without it."""
    odd = runs.at("odd")
    shutil.copytree(runs.base, odd)
    make(os.path.join(odd, "odd.db"), load_ms=70, seed=7)
    for run, hidden in ((runs.slow, True), (runs.same, False)):
        result = gate(run, "--baseline", odd)
        text = re.sub(r"\s+", " ", result.out)
        t.equal(result.status, 0, run)
        t.equal(re.search(r"Odd one \S*/odd\.db: its 4\d\.\d % is far above the others; without this baseline more than "
                          r"\+\d\.\d pp fails, and this run would\.", text) is not None, hidden, text)
        found = json.loads(gate("--json", run, "--baseline", odd).out)["assertions"][0]["odd_baseline"]
        t.check((found or 0) > 0.4 if hidden else found is None, run, found)


def main():
    runs = Runs(t.scratch())
    check_statuses(runs)
    check_baselines(runs)
    check_sentence(runs)
    check_odd(runs)
    t.finish()


main()
