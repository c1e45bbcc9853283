# SPDX-License-Identifier: Apache-2.0
"""Several jobs in a folder and in its folders are reported as a row each; missing ranks are named."""
import json
import os
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlprof_test as t
import html_file
import rundb


def load(*arguments):
    result = t.report("--json", *arguments)
    t.equal((result.status, result.err), (0, ""), arguments)
    return json.loads(result.out)


def add(folder, name, late, **meta):
    os.makedirs(folder, exist_ok=True)
    for number in range(len(late)):
        rundb.rank(os.path.join(folder, "{}-{}.db".format(name, number)), number, late, **meta)


def check_page(folder, jobs):
    """The page has a row and a verdict of each job, and no name becomes markup."""
    add(os.path.join(folder, "odd"), "o", [1, 1], job_id="<b onclick=1>", start=4 * 10**9)
    page = html_file.check_page(folder, "jobs", has_script=False)[0]
    rows = [[html_file.words_of(cell) for cell in row["inside"]] for row in page.all("tr")]
    t.equal(rows.pop(), ["Culprit", "the rank that waits for data while the others wait for it"])
    t.equal([row[0] for row in rows],
            ["Job (attempt)", "71", "72", "71 (1)", "old", "<b onclick=1>"], rows)
    t.equal([row[3] for row in rows[1:]], ["2", "-", "-", "0", "-"], "culprits")
    for row, found in zip(rows[1:], jobs):
        ratio = found["stall"]["ratio"]
        t.check(row[1] == ("{:.0f} %" if ratio >= 0.1 else "{:.1f} %").format(100 * ratio), row, ratio)
    words = html_file.words_of(page.all("main")[0])
    for text in ("5 jobs", "Job 71 (1)", "Rank 2 (node1) waits for data", "Less sure", "Missing."):
        t.check((text in words) != (text in ("Less sure", "Missing.")), text, words)
    shutil.rmtree(os.path.join(folder, "odd"))


def check_several():
    folder = t.scratch()
    add(folder, "a", [1, 1, 90], job_id="71", attempt="0", world_size="3")
    add(folder, "b", [1, 1], job_id="72", attempt="0", world_size="2", start=10**9)
    add(os.path.join(folder, "deep", "er"), "c", [1, 1], job_id="71", attempt="1", world_size="2",
        start=2 * 10**9)
    add(os.path.join(folder, "old"), "d", [90, 1], start=3 * 10**9)
    with open(os.path.join(folder, "deep", "train.log"), "w") as file:
        file.write("no run, and none is expected in here")
    os.symlink(folder, os.path.join(folder, "deep", "round"))
    jobs = load(folder)["jobs"]
    t.equal([(job["run"]["job_id"], job["run"]["attempt"], job["run"]["ranks"],
              job["job"]["culprit"]) for job in jobs],
            [("71", 0, 3, 2), ("72", 0, 2, None), ("71", 1, 2, None), ("old", None, 2, 0)])
    t.check(jobs[0]["stall"]["ratio"] > .2 > jobs[1]["stall"]["ratio"], "not mixed", jobs)
    text = t.report(folder).out
    for words in ("4 jobs", "71 (1)", "3 ranks on 2 hosts", "--job ID"):
        t.check(words in text, "missing:", words, text)
    t.check("Less sure" not in text, "nothing to doubt", text)
    t.equal(load("--job", "72", folder)["run"]["job_id"], "72")
    t.check("dlprof  job 71 (1), 2 ranks" in t.report("--job", "71 (1)", folder).out, "which job it is")
    page = html_file.check_page(folder, "job", "--job", "71 (1)", has_script=False)[0]
    t.check("job 71 (1), 2 ranks" in html_file.words_of(page.all("p")[0]), "the page's job")
    t.equal(load("--job", "72", "--rank", "1", folder)["ranks"][0]["rank"], 1)
    for arguments, words in ((["--job", "73", folder], "no run of job '73' is there"),
                             (["--rank", "1", folder], "holds several jobs or attempts"),
                             (["batches", "--rank", "1", folder], "holds several jobs")):
        result = t.report(*arguments)
        t.equal((result.status, result.out, result.err.count("\n")), (2, "", 1), result.err)
        t.check(words in result.err, words, result.err)
    check_page(folder, jobs)
    files = [os.path.join(folder, "a-0.db"), os.path.join(folder, "b-0.db")]
    t.equal(len(load(*files)["jobs"]), 2, "rank 0 of two jobs")
    database = sqlite3.connect(os.path.join(folder, "b-1.db"))
    with database:
        database.execute("UPDATE t_meta SET value = '5' WHERE key = 'world_size'")
    database.close()
    text = " ".join(t.report(folder).out.split())
    t.check("Less sure about job 72: the ranks disagree about how many they are" in text and
            text.count("Less sure") == 1, text)
    t.equal(t.report("html", folder).out.count("Less sure"), 1, "the page says it once")


def check_gate(folder):
    """A job with missing ranks does not pass the gate, but fails if one of its other ranks fails."""
    for limit, options, status in (("90%", [], 3), ("10%", [], 1), ("90%", ["--ranks", "4"], 0)):
        gate = t.report("gate", "--max-stall-ratio", limit, *options, folder)
        t.equal(gate.status, status, limit, options, gate.out, gate.err)
        t.equal("only 4 of the 12 ranks of its job" in " ".join(gate.out.split()), not options, gate.out)


def check_gate_idle(folder, idle):
    """With a rank without loader the gate is inconclusive, unless --ranks says how many have one."""
    for options, status, words in (
            ([], 3, "of the 12 ranks"), (["--ranks", "5"], 3, "if this rank loads no data, say --ranks 4"),
            (["--ranks", "4"], 0, "pipe.db' is left out: it has no loader")):
        gate = t.report("gate", "--max-stall-ratio", "90%", *options, folder)
        t.equal(gate.status, status, options, gate.out, gate.err)
        t.check(words in " ".join((gate.out + gate.err).split()), words, gate.out, gate.err)
    for meta, keywords in ((dict(job_id="another"), {}), ({}, dict(losses=[20])),
                           ({}, dict(loaders=[rundb.loader([])]))):
        rundb.build(idle, meta=dict(dict(job_id="9", world_size="12", rank="7"), **meta), **keywords)
        gate = t.report("gate", "--max-stall-ratio", "90%", "--ranks", "4", folder)
        t.equal(gate.status, 3, "it should have loaded", meta, keywords, gate.out, gate.err)


def check_missing():
    folder = t.scratch()
    meta = {"job_id": "9", "world_size": "12"}
    add(folder, "r", [1, 90, 1, 1, 1], **meta)
    os.unlink(os.path.join(folder, "r-3.db"))
    check_gate(folder)
    rundb.build(os.path.join(folder, "pipe.db"), [], meta=dict(meta, rank="7"))
    run = load(folder)["run"]
    t.equal((run["ranks"], run["world_size"], run["without_loader"], run["missing"]),
            (5, 12, 1, [3, 5, 6, 8, 9, 10, 11]))
    text = t.report(folder).out
    for words in ("5 of 12 ranks on 4 hosts; 1 has no loader", "3, 5-6, 8-11: no database"):
        t.check(words in " ".join(text.split()), "missing:", words, text)
    check_gate_idle(folder, os.path.join(folder, "pipe.db"))
    rundb.build(os.path.join(folder, "pipe.db"), [], meta=dict(meta, rank="7"))
    page = t.report("html", folder).out
    t.check("5 of 12 ranks" in page and "<b>Missing.</b> 3, 5-6, 8-11: no database" in page, "page")


def main():
    check_several()
    check_missing()
    t.finish()


main()
