# SPDX-License-Identifier: Apache-2.0
"""The page of a job has a row and a picture of each rank, and names the culprit."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import html_file
import pages
import rundb


def check_ranks(folder):
    """A page of several runs, which are the ranks of a job, has a row and a picture of each."""
    job = rundb.job(os.path.join(folder, "job"), [1, 1, 90, 1])
    facts = json.loads(t.report("--json", job).out)
    page, raw = html_file.check_page(job, "ranks", has_script=False)
    words = html_file.words_of(page.all("main")[0])
    for text in ("4 ranks on 2 hosts", job, "HIGHLY INPUT-BOUND", "the ranks wait for 0.8 % to 23 %",
                 "Rank 2 (node1) waits for data in 98 % of the lost time",
                 "by step: where one", "the culprit", "waiting for data", "to one scale: a full row"):
        t.check(text in words, "ranks: missing", text, words)
    t.check("Waits." not in words, "of no GPU nothing is said")
    t.check("{:.0f} %".format(100 * facts["stall"]["ratio"]) in html_file.words_of(page.all("header")[0]),
            "the job's stall ratio")
    rows = [[html_file.words_of(cell) for cell in row["inside"]] for row in page.all("tr")]
    t.equal([row[0] for row in rows], ["Why", "Next", "", "Rank", "0", "1", "2*", "3", "*", "Each", "To blame"],
            "the tables")
    t.check("Rank 2, by its own report" in words, "the culprit's cause", words)
    rows = rows[3:]
    t.equal([row[5] for row in rows[1:5]], ["not ✓", "not ✓", "highly ■", "not ✓"], "the signs")
    t.check('<td><span aria-hidden="true">■</span> highly</td>' in raw, "before the word", raw)
    t.check(raw.count('<span aria-hidden="true">') == 5, "signs are for eyes", raw)
    t.equal(rows[3][1:2] + rows[3][3:], ["400", "23 %", "98 %", "highly ■", "node1",
                                         os.path.join(job, "r2.db")], "the culprit's row")
    # The culprit's bars have a wait of 30 ms, a third of 90 ms, above a compute of 101 ms.
    svg = page.all("svg")[1]
    waits = [e["attrs"]["d"] for e in html_file.inside(svg) if e["attrs"].get("class") == "wait"]
    heights = [[float(low) - float(high)
                for low, high in re.findall(r"M[\d.]+ ([\d.]+)V([\d.]+)", d)] for d in waits]
    computes = [float(low) - float(high) for low, high in
                re.findall(r"M[\d.]+ ([\d.]+)V([\d.]+)",
                           [e["attrs"]["d"] for e in html_file.inside(svg)
                            if e["attrs"].get("class") == "compute"][2])]
    if t.equal(len(heights), 4, "pictures"):
        t.check(max(heights[0] + heights[1] + heights[3]) < 0.5 and len(heights[2]) > 130,
                "who waits", heights)
        t.check(abs(sum(heights[2]) / sum(computes) - (92 / 3) / 100) < 0.01,
                "wait against compute", sum(heights[2]) / sum(computes))
    # Files in any order give the same page; one rank has its own page; of many ranks the worst are drawn.
    files = [os.path.join(job, "r{}.db".format(rank)) for rank in (3, 0, 2)]
    page = html_file.check_page(files[0], "files", *files[1:], has_script=False)[0]
    t.equal([html_file.words_of(row["inside"][0]) for row in page.all("tr")],
            ["Why", "Next", "", "Rank", "0", "2*", "3", "*", "Each", "To blame"])
    for arguments in ((job, "--rank", "2"), (files[2],)):
        t.check("python3 train.py" in html_file.check_page(arguments[0], "one", *arguments[1:])[1], arguments)
    many = rundb.job(os.path.join(folder, "many"), [1] * 39 + [90], steps=20)
    page = html_file.check_page(many, "many", has_script=False)[0]
    labels = [e["text"] for e in html_file.inside(page.all("svg")[1]) if e["text"].startswith("rank ")]
    t.equal((len(labels), labels[0], len(page.all("tr"))), (16, "rank 39 *", 47), "many", labels)
    t.check("to blame for most" in html_file.words_of(page.all("main")[0]), "many: which are drawn")
    apart = rundb.groups(t.scratch(), [[1, 1], [1, 90]])
    words = html_file.words_of(html_file.check_page(apart, "groups", has_script=False)[0].all("main")[0])
    t.check("Ranks 0-1 and 2-3 do not wait for each other. Ranks 2-3 lose 23 %" in words, words)
    # Names that look like markup, or are secret.
    hostile = rundb.job(os.path.join(folder, "<i>job"), [1, 90], host=pages.MARKUP)
    page, raw = html_file.check_page(hostile, "hostile ranks", has_script=False)
    t.check("&lt;script&gt;window.hacked" in raw and "&lt;i&gt;job" in raw, "shown as it is")
    hidden = rundb.job(os.path.join(folder, "SECRET"), [1, 90], host="SECREThost")
    raw = html_file.check_page(hidden, "redacted ranks", "--redact", has_script=False)[1]
    t.check("SECRET" not in raw and "run-2" in raw and "host-1" in raw, "--redact")
    # A folder without runs, and a file that is no run.
    empty = os.path.join(folder, "none")
    for rank in range(2):
        os.makedirs(empty, exist_ok=True)
        rundb.build(os.path.join(empty, "{}.db".format(rank)), meta={"rank": str(rank)})
    page = html_file.check_page(empty, "no batches", status=3, has_script=False)[0]
    t.check("no rank has batches" in html_file.words_of(page.all("main")[0]), "no batches")
    for path in (os.path.join(folder, "nowhere"), t.scratch()):
        result = t.report("html", path, "-o", os.path.join(folder, "no.html"))
        t.equal((result.status, result.out, result.err.count("\n")), (2, "", 1), path, result.err)
        t.check(not os.path.exists(os.path.join(folder, "no.html")), "a page of nothing")
    result = t.report("html", job, "-f", "-o", files[0])
    t.equal(result.status, 2, "over one of the runs")
    t.check("will not write over the run itself" in result.err, result.err)


def main():
    folder = t.scratch()
    check_ranks(folder)
    t.finish()


main()
