# SPDX-License-Identifier: Apache-2.0
"""Pages of all kinds of runs have the right sections, verdict and words."""
import html
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import html_file
import pages


# The headline's sentence by the host's clock and by the GPU's.
SENTENCE = re.compile(r"(the GPU is idle )?(< )?[\d.]+ % of the time(, waiting for data|"
                      r" is spent waiting for data)")


NUMBER = re.compile(r"\d[\d,.]*(?: %| [num]?s\b|x\b)")


def check_numbers(name, path, page):
    """The page has each share, time and factor of the text report, in the same words."""
    text = re.sub(r"▁ under 5 %.*? waiting", "", re.sub(r"\s+", " ", t.report("-v", path).out))
    shown = set(NUMBER.findall(html_file.words_of(page.all("main")[0])))
    t.equal(sorted(set(NUMBER.findall(text)) - shown), [], name, "numbers that only the text has")


def check_kinds(folder):
    for name, (make, expected) in pages.RUNS.items():
        path = make(os.path.join(folder, name + ".db"))
        page, raw = html_file.check_page(path, name, status=3 if name in ("nothing", "one") else 0)
        sections = [e["attrs"]["id"] for e in page.all("section")]
        t.equal(sections, expected.split(), name, "sections")
        # Page and text have the same verdict.
        words = {"highly_input_bound": "HIGHLY INPUT-BOUND", "incomplete": "INCOMPLETE",
                 "moderately_input_bound": "MODERATELY INPUT-BOUND", "not_input_bound": "NOT INPUT-BOUND"}
        verdict = json.loads(t.report("--json", path).out)["verdict"]
        t.check(words[verdict] in page.all("h1")[0]["text"], name, verdict)
        said = SENTENCE.search(re.sub(r"\s+", " ", t.report(path).out))
        t.equal(said is not None, verdict != "incomplete", name, "a sentence")
        plain = re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]*>", "", raw)))
        t.check(not said or said.group(0) in plain, name, said)
        t.check(len(raw) < 300000, name, "has", len(raw), "bytes")
        check_numbers(name, path, page)


def check_content(folder):
    page, raw = html_file.check_page(pages.lockstep(os.path.join(folder, "content.db")), "content")
    for words in ("stalls every 7 batches, as many as workers", "7 workers",
                  "Use more workers, 12 in all: about 1.36x",
                  "not observed: part of the dataset's code", "python3 train.py --epochs 3"):
        t.check(words in raw, "missing:", words)
    order = [raw.find('id="{}"'.format(id_)) for id_ in
             ("wait-h", "time", "period", "residue", "stages", "lanes-h", "predict-h", "whatif",
              "coverage-h")]
    t.check(-1 not in order and order == sorted(order), "order of the page", order)
    gpu = html_file.check_page(pages.gpu(os.path.join(folder, "gpu.db")), "gpu")[1]
    for words in ("the GPU was busy for", "copy to the GPU", "of it GPU busy",
                  "the GPU&#39;s clock: waits while it was idle", "the GPU is idle <strong>"):
        t.check(words in gpu, "missing:", words)
    t.check("the GPU was busy for" not in raw, "a GPU that was not seen")


def main():
    folder = t.scratch()
    check_kinds(folder)
    check_content(folder)
    t.finish()


main()
