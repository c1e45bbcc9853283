# SPDX-License-Identifier: Apache-2.0
"""No report contradicts its own figures, and the check for that finds each planted contradiction.

Reports of runs of every kind are walked: those that the page's tests draw, more that come from a
model of a loader, and, where DLPROF_CASES or the folder beside the tree has them, labelled series.
forms.check_forms() makes the same check for each run that any other test makes.
"""
import copy
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import claims
import dlprof_test as t
import forms
import pages
import rundb

CASES = os.environ.get("DLPROF_CASES") or os.path.join(t.ROOT, "..", "shared", "cases")


def made(workers=4, load=60, step=10, columns=None, meta=None, **keywords):
    batches = rundb.simulate(300, workers, load, step, **keywords)
    for batch in batches:
        batch.update(columns or {})
    return {"loaders": [rundb.loader(batches, workers=workers)], "meta": meta}


def several():
    """A run whose steps ask a second loader, and wait for that twice as long as for the first."""
    rows = ([], [])
    for i in range(200):
        for k, (at, wait) in enumerate(((0, 20), (30, 40))):
            begin = rundb.START_NS + (120 * i + at) * rundb.MS
            load = (65 if k else 85) * 2 * rundb.MS
            rows[k].append({
                "epoch": 0, "task": i, "batch": i, "begin_ns": begin, "wait_ns": wait * rundb.MS,
                "receive_ns": 100000, "step_ns": 120 * rundb.MS, "worker_id": i % 2,
                "compute_ns": (120 - wait) * rundb.MS, "pid": 100 + 10 * k + i % 2,
                "load_begin_ns": begin + (wait - 1) * rundb.MS - load, "load_ns": load,
                "cpu_ns": load * 7 // 10, "samples": 8, "head_ready": 0, "ready_ns": 0, "qdepth": 0,
                "hol_ns": 0, "transfer_ns": 200000})
    return {"loaders": [rundb.loader(some, workers=2) for some in rows]}


RUNS = {
    "capacity": lambda: made(jitter=0.5, meta={"cpus": "64"},
                             columns={"decode_ns": 20 * rundb.MS, "decode_count": 32}),
    "nearly": lambda: made(load=41, step=10, jitter=0.3),
    "even": lambda: made(load=40, step=10),
    "cores": lambda: made(load=80, step=10, columns={"cpu_ns": 38 * rundb.MS}, meta={"cpus": "2"}),
    "delivery": lambda: made(load=20, step=20, delivery_ms=8, epochs=3),
    "starts": lambda: made(load=30, step=12, epochs=5),
    "slow": lambda: made(load=20, step=12, slow={1: 4}),
    "alone": lambda: made(workers=0, load=20, jitter=0.5, epochs=2),
    "one": lambda: made(workers=1, load=30),
    "tail": lambda: made(load=25, step=10, jitter=0.99),
    "saves": lambda: made(load=10, step=lambda i: 500 if i % 50 == 49 else 10),
    "lost": lambda: dict(made(), losses=[5, 4]),
    "several": several,
}


def asked(path):
    """Returns a run's screen, its -v and its JSON."""
    return forms.run(path), forms.run(path, "-v"), json.loads(forms.run(path, "--json"))


def walk(paths):
    words = set()
    for path in paths:
        screen, whole, found = asked(path)
        words |= claims.seen(screen + whole)
        for text in (screen, whole):
            for wrong in claims.check(text, found):
                t.check(False, path, "contradicts itself:", wrong)
        t.check(found["verdict"], path)
    # A sentence whose words have changed would not be checked any more.
    for name in sorted(claims.EVERYDAY - words):
        t.check(False, "no report has the words of", name, claims.WORDS[name].pattern)
    t.say("words that no report has:", sorted(set(claims.WORDS) - words))


def import_cases(folder):
    try:
        with open(os.path.join(CASES, "labels.json"), encoding="utf-8") as file:
            labels = json.load(file)
    except OSError:
        return
    for case in labels["cases"] if isinstance(labels, dict) else labels:
        path = os.path.join(folder, case["id"] + ".db")
        arguments = ["import", os.path.join(CASES, case["file"]), "-o", path]
        for key, value in case["meta"].items():
            arguments += ["--meta", "{}={}".format(key, json.dumps(value))]
        t.equal(t.report(*arguments).status, 0, case["id"], "import")


def words(pattern, new):
    """Plants a contradiction by changing the printed text, wherever its lines end."""
    def plant(text, found):
        changed, count = re.subn(pattern.replace(" ", r"\s+"), new, text, count=1, flags=re.S)
        t.check(count, "nothing to change:", pattern, text)
        return changed, found
    return plant


def both(*plants):
    def plant(text, found):
        for one in plants:
            text, found = one(text, found)
        return text, found
    return plant


def figures(change):
    """Plants a contradiction by changing the JSON."""
    def plant(text, found):
        found = copy.deepcopy(found)
        change(found)
        return text, found
    return plant


def says(sentence):
    """Plants a sentence as the report's reason."""
    return words("\n  Why", "\n  Why    " + sentence + "\n        ")


def useless(name):
    return figures(lambda found: found["not_useful"].append({"id": name, "why": "x"}))


def advised(**changes):
    return figures(lambda found: found["advice"][0].update(changes))


NO_WORKERS = figures(lambda found: found["workers"].update(count=0))

FAULTS = (
    ("a ratio of another band", "HIGHLY INPUT-BOUND at", words(
        r"\d+ % of the time is", "12 % of the time is")),
    ("a bar that is not whole", "sum to", words(r"· step [\d.]+ %", "· step 99 %")),
    ("a bar of another run", "the bar's waiting", words(r"not ready [\d.]+ %(.*)step [\d.]+ %",
                                                        r"not ready 40 %\1step 60 %")),
    ("an interval without its ratio", "not around", words(r"Interval( +)[\d.]+ % to [\d.]+ %",
                                                          r"Interval\g<1>1 % to 2 %")),
    ("enough, called too few", "fewer batches than", words(r"would take [\d.]+", "would take 1.5")),
    ("enough, called too few, in -v", "fewer batches than",
     words(r"without waiting the training would take [\d.]+",
           "without waiting the training would take 1.5")),
    ("hardly more, and less", "not hardly more", words(
        r"(\d workers load [\d.]+ batches/s, )the training would take [\d.]+",
        r"\1hardly more than the training would take: 120")),
    ("two capacities", "two figures", words(r"workers load [\d.]+", "workers load 3.33")),
    ("not longer", "not longer", says("Worker 1 takes 0.97 times as long as the others.")),
    ("a first epoch that is not slow", "no slower", says(
        "Its loads take 5.0 ms, later ones 60 ms; for 40 % of its time the training waits for "
        "unfinished batches, later for 3 %.")),
    ("a change that is none", "no longer than before", says(
        "From about batch 7 on loads take 5.0 ms, before 60 ms.")),
    ("a load that lasts less than what it holds up", "answers later", says(
        "Each batch asks its worker for 1 descriptor and waits 78 ms for each.")),
    ("more than all", "more than there are", says("7 of 4 workers take long.")),
    ("a second cause before the first", "costs more", says(
        "It takes 6.79 s, 37 % of the time. Also: cores that are used up, 39 % of the time.")),
    ("ideal input that is slow", "is slower", words(r"would run [\d.]+x", "would run 0.90x")),
    ("another ideal input", "its figure is", words(r"would run [\d.]+x", "would run 9.1x")),
    ("another ideal input without workers", "its figure is", words(
        r"would run ([\d.]+x)( to [\d.]+x)?", r"would run \1 to 99.0x")),
    ("a range that ends before it begins", "does not hold", words(
        r"( as fast)? \([\d.]+x to [\d.]+x", r"\1 (1.90x to 1.10x")),
    ("a gain outside of its range", "does not hold", words(
        r"[\d.]+x( as fast)? \(", r"1.01x\1 (")),
    ("more than ideal input", "more than ideal", words(
        r"( as fast)? \(([\d.]+)x to [\d.]+x", r"\1 (\2x to 99.0x")),
    ("a bound beyond ideal input", "more than ideal", words(
        "\n  Next", "\n  Next  at most 99.0x ")),
    ("no gain, where the range has only gains", "of gains alone", words(
        "\n  Why", "\n  Next   1. Use 2 workers: 2.3x (1.68x to 2.4x) num_workers=2; no gain if "
        "what loads wait for is shared.\n  Why")),
    ("advice that slows", "advised, and slower", words(
        r"[\d.]+x( as fast)? \([\d.]+x to [\d.]+x", r"0.95x\1 (0.90x to 1.10x")),
    ("waiting that is less than nothing", "waiting of", figures(
        lambda found: found["whatif"][1].update(stall_ratio=-0.01))),
    ("the same in the table", "no share", words(
        r"(twice the workers .*?)[\d.]+ %(\n)", r"\1-1 %\2")),
    ("a baseline of another run", "as it was it waits", words(
        r"(as it was .*?)[\d.]+ %(\n)", r"\1 3 %\2")),
    ("what helps does not help", "does not help", lambda text, found:
     useless(found["advice"][0]["whatif"])(text, found)),
    ("the same on the screen", "under No", words(
        "\n  No ", "\n  No     more workers 1.01x, ")),
    ("no number is enough", "no number", says("no number is enough")),
    ("no worker", "of no worker", says("0 would be enough")),
    ("images in a run that decoded none", "nothing was decoded", both(
        advised(how="Use smaller images."),
        figures(lambda found: found["breakdown"].update(decode_s=None)))),
    ("pinning without a GPU", "no GPU was seen", advised(how="Pass pin_memory=True.")),
    ("workers kept that there are not", "persistent_workers of", both(
        NO_WORKERS, advised(how="persistent_workers=True"))),
    ("workers kept that are not PyTorch's", "persistent_workers of", both(
        figures(lambda found: found["loaders"][0].update(kind="tf.data")),
        advised(how="persistent_workers=True"))),
    ("a cause of workers that there are not", "without workers", NO_WORKERS),
    ("a thread that receives from nobody", "no worker sends", both(
        NO_WORKERS, advised(how="so that a thread receives them"))),
    ("CPU of loads that sleep", "of loads that sleep", both(
        advised(id="reduce_cpu_per_batch"),
        figures(lambda found: found["breakdown"].update(
            waits_s=0.9 * found["breakdown"]["load_s"])))),
    ("a load of more than its parts", "more than all of it", words(
        "\n  Why", "\n  Load   57 ms: libjpeg 47 %, Crop 27 %, asleep 40 %\n  Why")),
    ("losses that are none", "nothing lost", figures(lambda found: found["loss"].update(events=7))),
    ("no number", "no figure", says("It takes nan s.")),
    ("a number without end", "no figure", says("It takes inf times.")),
    ("less than nothing", "no figure", says("It brings -0 % more.")),
    ("less than nothing in JSON", "no figure", figures(
        lambda found: found["stall"].update(epoch_end=-0.0))),
)


def check_plants(path):
    """Plants contradictions in the report of a run that starves, which advises more workers."""
    _, text, found = asked(path)
    t.equal(claims.check(text, found), [], path, "before a fault is planted")
    for what, word, plant in FAULTS:
        wrong = claims.check(*plant(text, found))
        t.check(any(word in line for line in wrong), what, "is not seen:", wrong)


def main():
    folder = t.scratch()
    for name, (make, _) in pages.RUNS.items():
        make(os.path.join(folder, "page-" + name + ".db"))
    for name, make in RUNS.items():
        rundb.build(os.path.join(folder, name + ".db"), **make())
    import_cases(folder)
    check_plants(os.path.join(folder, "capacity.db"))
    walk(sorted(glob.glob(os.path.join(folder, "*.db"))))
    t.finish()


main()
