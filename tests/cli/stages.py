# SPDX-License-Identifier: Apache-2.0
"""For each planted flaw in a loader made of stages the report names its cause and settings of its own
framework, never PyTorch's. The sums were measured with TensorFlow 2.21 on two cores."""
import html
import json
import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import forms
import html_file
import rundb

MS = rundb.MS
PYTORCH = ("DataLoader", "num_workers", "persistent_workers", "prefetch_factor", "pin_memory", "workers")
COLUMNS = "name kind parent elements busy own cpu read parallel capacity threads autotuned".split()
ROOT = ("Root", "other", None, 80, 18553, 8, None, 0, None, None, 2, 0)
PREFETCH = ("Prefetch", "prefetch", "Root", 80, 18546, 18546, 3, 0, None, 4, None, 0)
POOL = [
    ROOT, PREFETCH,
    ("MapAndBatch", "batch", "Prefetch", 80, 20506, 20506, 53, 0, 8, None, None, 0),
    ("ReadFile", "read", None, 1280, 32265, 32265, 331, 32120, None, None, None, 0),
    ("DecodeJpeg", "decode", None, 1280, 3482, 3482, 2586, 0, None, None, None, 0),
]
SERIAL = [
    ROOT, PREFETCH,
    ("MapAndBatch", "batch", "Prefetch", 80, 20344, 20344, 30, 0, 2, None, None, 1),
    ("Interleave", "interleave", "MapAndBatch", 1280, 20053, 45, None, 0, None, 4, None, 0),
    ("TFRecord", "read", "Interleave", 1280, 19975, 19975, 267, 19772, None, None, None, 0),
    ("DecodeJpeg", "decode", None, 1280, 3026, 3026, 2511, 0, None, None, None, 0),
]
WORK = [
    ROOT, PREFETCH,
    ("MapAndBatch", "batch", "Prefetch", 80, 20506, 20506, 53, 0, 2, None, None, 1),
    ("DecodeJpeg", "decode", None, 1280, 8482, 8482, 7586, 0, None, None, None, 0),
    ("AdjustHue", "transform", None, 7680, 28482, 28482, 26586, 0, None, None, None, 0),
]
OWN_PYTHON = [
    ROOT, ("Prefetch", "prefetch", "Root", 80, 18546, 18546, 3, 0, None, 4, None, 1),
    ("MapAndBatch", "batch", "Prefetch", 80, 20506, 20506, 53, 0, 1, None, None, 0),
    ("PyFunc", "python", None, 1280, 20480, 20480, 14080, 0, None, None, None, 0),
]
WAITING_PYTHON = OWN_PYTHON[:3] + [("PyFunc", "python", None, 1280, 20480, 20480, 2048, 0, None, None, None, 0)]
GENERATORS = [
    ROOT, PREFETCH,
    ("BatchV2", "batch", "Prefetch", 80, 18500, 100, None, 0, None, None, None, 0),
    ("FlatMap", "interleave", "BatchV2", 1280, 18400, 90, None, 0, None, None, None, 0),
    ("Generator", "python", "FlatMap", 1280, 18310, 18310, 30, 0, None, None, None, 0),
    ("PyFunc", "python", None, 1282, 17000, 17000, 1280, 0, None, None, None, 0),
]
FILTERED = [
    ROOT, PREFETCH,
    ("BatchV2", "batch", "Prefetch", 80, 18500, 100, None, 0, None, None, None, 0),
    ("Filter", "transform", "BatchV2", 1280, 18400, 18300, 100, 0, None, None, None, 0),
    ("ParallelMapV2", "transform", "Filter", 1280, 100, 90, 90, 0, 2, None, None, 1),
    ("AdjustHue", "transform", None, 1280, 17000, 17000, 16900, 0, None, None, None, 0),
]
TINY = [
    ROOT, PREFETCH,
    ("MapAndBatch", "batch", "Prefetch", 80, 18500, 18500, 53, 0, 2, None, None, 1),
    ("Range", "other", "MapAndBatch", 400_000, 18, 18, 18, 0, None, None, None, 0),
    ("Mul", "transform", None, 400_000, 400, 400, 400, 0, None, None, None, 0),
]
UNFETCHED = [
    ROOT,
    ("BatchV2", "batch", "Root", 80, 18500, 100, None, 0, None, None, None, 0),
    ("Map", "transform", "BatchV2", 1280, 18400, 18400, 53, 0, None, None, None, 0),
    ("DecodeJpeg", "decode", None, 1280, 18200, 18200, 17586, 0, None, None, None, 0),
]
CACHED = [
    ROOT, PREFETCH,
    ("MapAndBatch", "batch", "Prefetch", 80, 18500, 400, 300, 0, 2, None, None, 1),
    ("MemoryCacheImpl", "cache", "MapAndBatch", 1280, 18100, 20, 20, 0, None, None, None, 0),
    ("ParallelMapV2", "transform", "MemoryCacheImpl", 1280, 18080, 18080, 50, 0, 2, None, None, 1),
    ("DecodeJpeg", "decode", None, 1280, 28482, 28482, 27586, 0, None, None, None, 0),
]
SERVED = [
    ("Root", "other", None, 80, 8100, 8, None, 0, None, None, 2, 0),
    ("Prefetch", "prefetch", "Root", 80, 8092, 8092, 3, 0, None, 4, None, 0),
    ("MapAndBatch", "batch", "Prefetch", 80, 8080, 8060, 53, 0, 2, None, None, 1),
    ("MemoryCacheImpl", "cache", "MapAndBatch", 1280, 20, 20, 20, 0, None, None, None, 0),
    ("AdjustHue", "transform", None, 1280, 14482, 14482, 13586, 0, None, None, None, 0),
]
IDLE = [row[:4] + (40, 1, 1) + row[7:] for row in SERVED[:4]]


def build(path, stages, wait_ms=230, step_ms=25, count=80, kind="tf.data", later=None):
    """Makes a run. later: (the wait for a batch in a second epoch, ms, the stages in that epoch)."""
    now, batches = rundb.START_NS, []
    epochs = [(wait_ms, stages)] + [later] * bool(later)
    for epoch, (wait_ms, _) in enumerate(epochs):
        for i in range(count):
            batches.append({"epoch": epoch, "task": i, "batch": i, "begin_ns": now, "wait_ns": wait_ms * MS,
                            "step_ns": (wait_ms + step_ms) * MS, "compute_ns": step_ms * MS})
            now += (wait_ms + step_ms) * MS
    rundb.build(path, [rundb.loader(batches, kind=kind, prefetch_factor=None, in_order=None,
                                    persistent=None, batch_size=None)],
                meta={"cpus": "2", "schema": "11", "frameworks": "tensorflow"}, version=11)
    numbers = {name: i for i, name in enumerate(dict.fromkeys(row[0] for _, rows in epochs for row in rows), 1)}
    with sqlite3.connect(path) as database:
        for epoch, row in ((epoch, row) for epoch, (_, rows) in enumerate(epochs) for row in rows):
            row = dict(zip(COLUMNS, row))
            number = numbers[row["name"]]
            is_kernel = row["parent"] is None and row["name"] != "Root"
            if epoch == 0 or row["name"] not in [first[0] for first in stages]:
                rundb.insert(database, "t_stage", {
                    "stage_id": number, "pid": 42, "number": number, "parent": numbers.get(row["parent"]),
                    "kernel": int(is_kernel), "root": int(row["name"] == "Root"), "name": row["name"],
                    "kind": row["kind"], "parallel": row["parallel"], "capacity": row["capacity"],
                    "threads": row["threads"], "autotuned": row["autotuned"]})
            for window in range(2 * epoch, 2 * epoch + 2):
                rundb.insert(database, "t_stage_sum", {
                    "stage_id": number, "begin_ns": rundb.START_NS + window * 10 * 1000 * MS,
                    "window_ns": 10 * 1000 * MS, "loader_id": 1, "epoch": epoch,
                    "elements": row["elements"] // 2, "busy_ns": row["busy"] * MS // 2,
                    "own_ns": row["own"] * MS // 2, "read_ns": row["read"] * MS // 2, "ready": 0,
                    "cpu_ns": row["cpu"] and row["cpu"] * MS // 2})
    return path


def check(name, path, cause, advice, words, most=None):
    """Checks cause and first step in the JSON, words on the screen, and that PyTorch is nowhere mentioned."""
    found = json.loads(t.report("--json", path).out)
    t.equal((found["cause"], found["advice"][0]["id"]), (cause, advice), name)
    text = forms.flat(forms.run(path))
    for word in words:
        t.check(word in text, name, "lacks", word, text)
    whole = forms.flat(forms.run(path, "-v"))
    for word in PYTORCH:
        t.check(word not in text, name, "speaks of", word, text)
    t.check("Stages of the pipeline" in whole, name, "-v has no table of stages")
    for step in found["advice"]:
        low, high = step["ci95"]
        t.check(0 <= low <= step["gain"] <= high <= found["stall"]["gain_alone"], name, "range", step)
    if most:
        t.check(found["advice"][0]["ci95"][1] <= most, name, "gains more than its CPU allows", found["advice"])
    return found


def check_page(path):
    """The page's table has the same numbers as -v's."""
    page = os.path.join(t.scratch(), "page.html")
    t.equal(t.report("html", "-o", page, path).status, 0, "html")
    with open(page) as file:
        cells = re.findall("<td[^>]*>(.*?)</td>", file.read())
    lines = [line.split() for line in t.report("-v", path).out.splitlines()]
    for row in POOL:
        told = next(line for line in lines if line[:2] == list(row[:2]))
        place = next((i for i, cell in enumerate(cells) if cell.strip() == row[0]), None)
        if t.check(place is not None, row[0], "is not on the page", cells):
            shown = html.unescape(" ".join(cells[place:place + 9])).replace("µs", "us").split()
            told = [word for word in told if word != "..."]  # where the text is cut
            t.equal(shown[:len(told)], told, row[0], "on the page")


def areas_of(path):
    """Returns the areas of a lane's bars, each of them drawn as up, right and down."""
    bars = re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)V", path["attrs"]["d"])
    return [(float(right) - float(left)) * (float(low) - float(high)) for left, low, high, right in bars]


def check_lanes(path, limits):
    """Each lane has the mean and the area that JSON says, and three times more in the first half of the time."""
    with sqlite3.connect(path) as database:  # the first half of the time has 1.5 of the mean
        for sign, compare in ("+", "="), ("-", ">"):
            database.execute("UPDATE t_stage_sum SET busy_ns = busy_ns {0} busy_ns / 2, own_ns = own_ns {0} own_ns / 2"
                             " WHERE begin_ns {1} ?".format(sign, compare), (rundb.START_NS,))
    page, _ = html_file.check_page(path, "lanes")
    stages = {stage["name"]: stage for stage in json.loads(t.report("--json", path).out)["stages"]}
    figure = next(e for e in page.all("figure") if e["attrs"].get("id") == "busy")
    lanes = [e for e in html_file.inside(figure) if e["tag"] == "g" and "class" not in e["attrs"]]
    shown = {}
    for lane in lanes:
        name, mean, hundred, own, rest = lane["inside"]
        marked, name = re.match("(▸ )?(?:↳ )?(.*)", name["text"]).groups()
        stage = shown[name] = stages[name]
        t.equal(marked is not None, name in limits, name, "is marked as the one that is waited for")
        t.equal(mean["text"], "{:.0f} %".format(100 * stage["busy"]), name, "on the right")
        left, line, right = map(float, re.findall(r"[\d.]+", hundred["attrs"]["d"]))
        lows = re.findall(r"M[\d.]+ ([\d.]+)V", own["attrs"]["d"] + rest["attrs"]["d"])
        full = (max(map(float, lows)) - line) * (right - left)
        for areas, share in (areas_of(own), stage["own"]), (areas_of(rest), stage["busy"] - stage["own"]):
            t.check(abs(sum(areas) / full - share) < 0.01, name, "drawn", areas, full, "JSON", stage)
            t.check(share < 0.01 or len(areas) == 2 and abs(areas[0] - 3 * areas[1]) < 0.02 * areas[0], name, areas)
    t.equal(list(shown), [name for name, stage in stages.items() if stage["busy"] >= 0.01], "lanes")
    means = ", ".join("{} {}".format(lane["inside"][0]["text"].lstrip("▸↳ "), lane["inside"][1]["text"]) for lane in lanes)
    t.check(means in html_file.words_of(figure), means, "is not in the figure's description")


def main():
    folder = t.scratch()

    def run(name, stages, **changes):
        return build(os.path.join(folder, name + ".db"), stages, **changes)

    found = check("pool", run("pool", POOL), "narrow_pool", "own_threads",
                  ("ReadFile takes 90 % of what MapAndBatch does, 25.2 ms a call, waiting for files",
                   "The program asks for 8 calls at once, 1.7 run: the pool has 2 threads", "Prefetch holds 0 of 4 when asked",
                   "options.threading.private_threadpool_size = 8"))
    t.equal([stage["name"] for stage in found["stages"]], [row[0] for row in POOL], "stages of JSON")
    t.equal([stage["name"] for stage in found["stages"] if stage["waited_for"]],
            ["MapAndBatch", "ReadFile"], "waited for")
    t.equal(found["advice"][0]["ci95"][0], 0, "what is read may come no faster")
    check_page(os.path.join(folder, "pool.db"))
    check_lanes(run("lanes", SERIAL), ("TFRecord",))
    counters = {}
    for event in json.loads(t.report("trace", os.path.join(folder, "pool.db")).out)["traceEvents"]:
        if event["ph"] == "C" and "(stage" in event["name"]:
            counters.setdefault(event["name"], []).append(event["args"]["value"])
    t.equal(sorted(counters), sorted("loader 1: %s (stage %d)" % (row[0], i) for i, row in enumerate(POOL, 1)),
            "stages of the trace")
    t.equal([round(value, 3) for value in counters.get("loader 1: ReadFile (stage 4)", [])], [1.613, 1.613],
            "calls at once")
    check("serial", run("serial", SERIAL), "serial_stage", "parallel_stage",
          ("TFRecord takes", "waiting for files", "Interleave asks its inputs one after the other",
           "interleave(..., num_parallel_calls=4)"))
    check("work", run("work", WORK), "slow_stage", "cheaper_stage",
          ("AdjustHue takes 77 % of what MapAndBatch does, 3.71 ms a call", "(autotuned)",
           "Beside DecodeJpeg 23 %"))
    check("python", run("python", OWN_PYTHON), "serial_stage", "cheaper_stage",
          ("16.0 ms a call, 11.0 ms of it on the CPU: Python of the program's own",
           "The program asks for one call at a time", "Prefetch holds 0 when asked"))
    check("asleep", run("asleep", WAITING_PYTHON), "serial_stage", "parallel_stage",
          ("16.0 ms a call, and waits for 90 % of that: Python of the program's own",
           "Let map() run several calls at once: map(..., num_parallel_calls=16)",
           "Calls that wait also need threads: options.threading.private_threadpool_size = 16"))
    check("generators", run("generators", GENERATORS), "serial_stage", "parallel_stage",
          ("Run several generators at once, each with a part of the data", "private_threadpool_size = 4"))
    check("filtered", run("filtered", FILTERED), "serial_stage", "parallel_stage",
          ("Compute what filter() asks in a map(..., num_parallel_calls=2) before it",))
    check("tiny", run("tiny", TINY), "slow_stage", "cheaper_stage",
          ("MapAndBatch calls its function for each element: of 46.2 us a call, its kernels take little",
           "Call map()'s function once a batch: batch() before map()"))
    check("unfetched", run("unfetched", UNFETCHED, step_ms=200), "no_prefetch", "add_prefetch",
          ("Nothing is loaded while the training computes", "prefetch(tf.data.AUTOTUNE)"))
    # A cache serves the second epoch, which hardly waits, or waits for stages behind the cache.
    check("filling", run("filling", CACHED, later=(1, IDLE)), "filling_cache", "keep_cache",
          ("The first epoch fills the pipeline's cache", "230 ms in the first epoch, 1.00 ms in later ones",
           "cache(FILE)"))
    found = check("served", run("served", CACHED, later=(100, SERVED)), "slow_stage", "cheaper_stage",
                  ("From the second epoch on, when a cache serves: AdjustHue takes", "Make AdjustHue need less time"))
    t.check("DecodeJpeg" not in json.dumps(found["advice"]), "only the first epoch needed it", found["advice"])
    # Work that begins in the first epoch may be counted in the second.
    late = SERVED + [("ParallelMapV2", "transform", "MemoryCacheImpl", 16, 226, 226, 1, 0, 2, None, None, 1)]
    check("late", run("late", CACHED, later=(100, late)), "slow_stage", "cheaper_stage", ("Make AdjustHue need less time",))
    # Without stages the report has the waits, and says nothing of what happens meanwhile.
    unseen = json.loads(t.report("--json", run("unseen", [])).out)
    t.equal((unseen["cause"], unseen["stages"], unseen["advice"][0]["id"]),
            ("unseen_loader", None, "mark_loads"), "unseen")
    t.finish()


main()
