# SPDX-License-Identifier: Apache-2.0
"""The figures in the GPU's part of the page are those of the database's rows."""
import json
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import html_file
import pages


def read_time(text):
    number, unit = text.split()
    return float(number) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]


def check_gpu(folder):
    """The shares, the stack of each bar and the table agree with the rows."""
    path = pages.gpu(os.path.join(folder, "steps.db"))
    page, _ = html_file.check_page(path, "gpu")
    facts = json.loads(t.report("--json", path).out)["gpu"]
    section = next(e for e in page.all("section") if e["attrs"]["id"] == "gpu")
    parts = list(html_file.inside(section))
    words = html_file.words_of(section)
    for text in ("The GPU (NVIDIA H200), in ", "idle but for copies to it",
                 "98 % from pageable memory", "300 kernels and 2 graphs a step", "host in sync",
                 "kernel<0>", "kernel<9>", "a bar is the mean of 6 steps"):
        t.check(text in words, "gpu: missing", text, words)
    t.check("kernel<10>" not in words, "ten kernels")
    t.check("why is not known" not in words, "all of it is attributed", words)
    t.check("1,234 records were dropped by CUPTI" in html_file.words_of(page.all("body")[0]), "dropped")
    # The bar of all steps has busy, then the causes in their order, each as long as its share.
    balance = next(e for e in parts if e["attrs"].get("class") == "balance")
    widths = [float(e["attrs"]["width"]) + 1 for e in balance["inside"] if e["tag"] == "rect"]
    shares = [facts["busy_s"]] + [facts["idle"][gap + "_s"] for gap in pages.GAPS]
    if t.equal(len(widths), len(shares), "parts of the bar"):
        for width, seconds in zip(widths, shares):
            t.check(abs(width / 720 - seconds / facts["steps_s"]) < 0.002, "a part of the bar",
                    width / 720, seconds / facts["steps_s"])
    # Every bar of the figure stacks the means of its steps.
    rows = t.rows(path, "SELECT {} FROM t_batch LEFT JOIN t_gpu_step USING (loader_id, epoch, task)"
                  " ORDER BY epoch, batch".format(", ".join("gap_{}_ns".format(gap)
                                                            for gap in pages.GAPS)))
    known = [[row["gap_{}_ns".format(gap)] for gap in pages.GAPS] for row in rows]
    groups = [[one for one in known[i:i + 6] if one[1] is not None] for i in range(0, 900, 6)]
    means = [[sum(column) / len(group) for column in zip(*group)] for group in groups]
    figure = next(e for e in parts if e["attrs"].get("id") == "idle")
    stacks, tops = {}, {}
    for element in html_file.inside(figure):
        class_ = element["attrs"].get("class")
        if element["tag"] == "path" and class_ in ("wait", "copy", "sync", "host", "rest"):
            for x, low, high in re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", element["attrs"]["d"]):
                i = round((float(x) - 84) / 624 * 150)
                stacks.setdefault(class_, {})[i] = float(low) - float(high)
                t.check(abs(float(low) - tops.get(i, 162)) < 0.4, class_, i, "stands at", low)
                tops[i] = float(high)
    heights = statistics.median(stacks["copy"][i] / means[i][1] for i in stacks["copy"])
    high = [i for i, mean in enumerate(means) if sum(mean) * heights > 149]  # higher than the scale
    t.check(len(high) < 10, "bars that end at the top", high)
    t.equal(sorted(set(range(150)) - set(stacks["copy"]) - set(high)), [], "bars that are missing")
    for class_, gap in (("copy", 1), ("sync", 2), ("host", 3), ("rest", 4)):
        for i, height in stacks.get(class_, {}).items():
            t.check(i in high or abs(height - means[i][gap] * heights) < 0.3, class_, i, height,
                    means[i][gap] * heights)
    table = [[cell["text"] for cell in row["inside"]] for e in figure["parent"]["inside"]
             if e["tag"] == "details" for row in html_file.inside(e) if row["tag"] == "tr"]
    t.equal(table[1][0], "0 to 5", "the first row")
    for row in table[1:]:
        i = int(row[0].split()[0]) // 6
        for text, mean in zip(row[4:8], means[i][1:]):
            t.check(abs(read_time(text) - mean) <= 0.006 * mean + 1000, row[0], text, mean)
    # A run without causes of idle time, and one without the GPU's times.
    words = html_file.words_of(html_file.check_page(pages.gpu_import(os.path.join(folder, "why.db")), "import")[0]
                     .all("main")[0])
    t.check("idle, and why is not known" in words and "CUPTI" not in words, "import", words)
    words = html_file.words_of(html_file.check_page(pages.gpu_host(os.path.join(folder, "host.db")), "host")[0]
                     .all("main")[0])
    for text in ("30 kernels a step", "only the host's calls were recorded, not the GPU's "
                 "own times: CUPTI is in use"):
        t.check(text in words, "host: missing", text, words)
    t.check("was busy for" not in words, "host: times of the GPU")


def main():
    folder = t.scratch()
    check_gpu(folder)
    t.finish()


main()
