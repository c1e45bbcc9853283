# SPDX-License-Identifier: Apache-2.0
"""The page embeds the run's own data for its script, of limited size."""
import itertools
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import html_file
import line_runs
import pages
import rundb

MS = rundb.MS


def points(grid):
    """Returns all settings of the grid, each with its prediction."""
    axes = [grid[key] for key in ("workers", "prefetch", "load", "inOrder")]
    return dict(zip(itertools.product(*axes), zip(grid["rate"], grid["stall"])))


def check_grid(folder):
    """The page predicts exactly the same numbers as the report."""
    for make in (pages.lockstep, pages.uneven, pages.alone, pages.many_workers):
        path = make(os.path.join(folder, "grid.db"))
        grid = html_file.check_page(path, "grid")[0].data()["grid"]
        found = points(grid)
        workers, prefetch, load = (grid[key][place] for key, place in
                                   zip(("workers", "prefetch", "load"), grid["was"]))
        t.equal(len(grid["rate"]), len(found), "points")
        t.equal(load, 1, "as it was")
        rows = {row["id"]: row for row in json.loads(t.report("--json", path).out)["whatif"]}
        for id_, point in (("baseline", (workers, prefetch, 1, True)),
                           ("workers_x2", (2 * workers, prefetch, 1, True)),
                           ("load_x0.5", (workers, prefetch, 0.5, True)),
                           ("prefetch_x4", (workers, 4 * prefetch, 1, True)),
                           ("in_order_false", (workers, prefetch, 1, False)),
                           ("use_workers", (rows.get("use_workers", {}).get("workers"), prefetch, 1, True))):
            if id_ in rows:
                t.equal(found.get(point), (rows[id_]["batches_per_s"], rows[id_]["stall_ratio"]), make, id_)
        asked = next(point for point in found if point[:3] != (workers, prefetch, 1) and point[3])
        said = json.loads(t.report("--json", path, "--what-if", "workers={},prefetch_factor={},load={}"
                                   .format(*asked)).out)["whatif"][-1]
        t.equal(found[asked], (said["batches_per_s"], said["stall_ratio"]), make, asked, said)


def check_data(folder):
    """The embedded times are those in the database."""
    for make in (pages.lockstep, pages.uneven):
        path = make(os.path.join(folder, "data.db"))
        page, _ = html_file.check_page(path, "data")
        data = page.data()
        rows = t.rows(path, "SELECT wait_ns, compute_ns FROM batch ORDER BY epoch, batch")
        for key in ("wait", "compute"):
            found = [ns for part in data["raw"] for ns in html_file.unpack(part[key])]
            t.equal(len(found), len(rows), key)
            worst = max(abs(ns - row[key + "_ns"]) / (row[key + "_ns"] + 1000)
                        for ns, row in zip(found, rows))
            t.check(worst < 0.0003, key, "is off by", worst)


def check_step(folder):
    """The bar of a part of the step is as long as its share, which is the same in JSON and -v."""
    for optimizer, missing in ((0.2, ()), (None, ("between", "optimizer"))):
        batches = rundb.simulate(200, 4, 20, 40)
        for row in batches:
            known = optimizer and int(optimizer * row["compute_ns"])
            row.update(before_ns=row["compute_ns"] // 4, backward_ns=row["compute_ns"] // 2,
                       between_ns=known and known // 10, optimizer_ns=known, save_ns=0)
        path = rundb.build(os.path.join(folder, "step.db"), [rundb.loader(batches, workers=4)])
        step, said = json.loads(t.report("--json", path).out)["step"], t.report("-v", path).out
        page, _ = html_file.check_page(path, "step")
        rows = [[html_file.words_of(row["inside"][0]), html_file.words_of(row["inside"][2]),
                 html_file.inside(row)] for row in page.all("tr") if len(row["inside"]) >= 4]
        for key, label in (("before", "before backward"), ("backward", "backward"), ("after", "after"),
                           ("between", "between"), ("optimizer", "optimizer")):
            found = [(share, [float(e["attrs"]["width"]) for e in inside if e["tag"] == "rect"])
                     for name, share, inside in rows if name == label]
            if key in missing:
                t.equal((step[key], found), (None, [("", [])]), "a part that was not observed")
            elif t.equal((len(found), len(found[0][1])), (1, 1), label, "bars", found):
                share, (width,) = found[0]
                t.check(abs(width / 200 - step[key]) < 0.0005, label, width, step[key])
                t.check(re.search("^ +" + label + " .* " + share + " ", said, re.M), label, share, said)


def check_predictions(folder):
    """A prediction's bar is as long as its rate, beside the highest one, also of less than a batch a second."""
    path = rundb.build(os.path.join(folder, "slow.db"), [rundb.loader(rundb.simulate(60, 2, 6000, 2500), workers=2)])
    rates = {row["id"]: row["batches_per_s"] for row in json.loads(t.report("--json", path).out)["whatif"]}
    page, _ = html_file.check_page(path, "slow")
    for name, label in (("baseline", "as it was"), ("load_x0.5", "loads half as long"), ("synthetic", "an ideal loader")):
        widths = [[float(e["attrs"]["width"]) for e in html_file.inside(row) if e["tag"] == "rect"]
                  for row in page.all("tr") if label in [html_file.words_of(cell) for cell in row["inside"]]]
        if t.equal([len(one) for one in widths], [1], label, "bars"):
            t.check(abs(widths[0][0] / 200 - rates[name] / max(rates.values())) < 0.001, label, widths, rates)


def check_sizes(folder):
    path = rundb.build(os.path.join(folder, "10k.db"),
                       [rundb.loader(pages.with_gpu(rundb.simulate(2000, 16, 200, 10, epochs=5,
                                                                   jitter=0.9)), workers=16)])
    _, raw = html_file.check_page(path, "10,000 batches")
    t.check(len(raw) <= 390000, "10,000 batches are", len(raw), "bytes")
    t.say("10,000 batches:", len(raw), "bytes")
    path = pages.long_run(os.path.join(folder, "long.db"), 120000)
    begin = time.monotonic()
    page, raw = html_file.check_page(path, "120,000 batches")
    data = page.data()
    t.check(len(raw) <= 1000000, "120,000 batches are", len(raw), "bytes")
    t.say("120,000 batches:", len(raw), "bytes,", round(time.monotonic() - begin, 2), "s")
    most = html_file.unpack(data["buckets"]["wait"]["most"])
    t.equal(len(most), 4096, "parts")
    t.check(abs(max(most) / (9000 * MS) - 1) < 0.001, "the longest wait is in the reduction",
            max(most))
    worst = [part for part in data["raw"] if part["begin"] <= 77777 < part["begin"] + part["count"]]
    if t.equal(len(worst), 1, "the batches around the longest wait are there one by one"):
        ns = html_file.unpack(worst[0]["wait"])[77777 - worst[0]["begin"]]
        t.check(abs(ns / (9000 * MS) - 1) < 0.001, "the longest wait", ns)


def check_flames(folder):
    """The embedded stacks are the run's; their names are cut, and never become markup."""
    page, _ = html_file.check_page(line_runs.capacity(os.path.join(folder, "lines.db")), "lines")
    flames = page.data()["flames"]
    t.equal([(group["name"], group["samples"], group["ns"], sum(row[0] for row in group["stacks"]))
             for group in flames["groups"]],
            [("Loads", 1000, 50000 * MS, 50000 * MS), ("Waits", 600, 30000 * MS, 30000 * MS),
             ("Steps", 400, 20000 * MS, 20000 * MS)], "groups")
    heaviest = [flames["frames"][frame] for frame in flames["groups"][0]["stacks"][0][1:]]
    t.equal(heaviest, [["_MapDatasetFetcher.fetch", "torch/utils/data/_utils/fetch.py:54", False],
                       ["collate", "train.py:12", True],
                       ["Tensor.__torch_function__", "torch/_tensor.py:1295", False]], "the heaviest")
    page, raw = html_file.check_page(pages.hostile(os.path.join(folder, "hostile.db")), "hostile")
    t.check("window.hacked" in str(page.data()["flames"]), "a name that is markup")
    path = rundb.build(os.path.join(folder, "huge.db"), [rundb.loader(rundb.simulate(98, 7, 200, 10),
                                                                      workers=7)],
                       lines=[("worker", 1, "load", [("/x/{}/{}.py".format("n" * 300, i), "f" * 300, j)
                                                     for j in range(6 if i else 200)], 9)
                              for i in range(900)])
    page, raw = html_file.check_page(path, "huge")
    flames = page.data()["flames"]
    t.check(len(flames["frames"]) <= 4000 and len(flames["groups"][0]["stacks"]) <= 600 and
            max(len(row) for row in flames["groups"][0]["stacks"]) <= 65, "bounds")
    t.check(len(raw) < 3000000, "a page of", len(raw), "bytes")


def main():
    folder = t.scratch()
    check_data(folder)
    check_grid(folder)
    check_step(folder)
    check_predictions(folder)
    check_sizes(folder)
    check_flames(folder)
    t.finish()


main()
