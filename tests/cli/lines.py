# SPDX-License-Identifier: Apache-2.0
"""A report names the lines of code that take most, says how sure that is, and names none with few samples."""
import html
import json
import os
import re
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import forms
import line_runs

# {run: (words that -v has in "In your code", words that it has not)}
SAYS = {
    "capacity": (("the loads, by 1,000 samples", "80 % ± 3 collate, train.py:12 in torch/_tensor.py:1295 "
                  "Tensor.__torch_function__", "10 % ± 3 Pics.__getitem__, train.py:22",
                  "10 % ± 3 open, PIL/Image.py:3131", "the waits, by 600 samples",
                  "100 % ± 1 main, train.py:41 the loop that waits, in selectors.py:415",
                  "the steps, by 400 samples", "70 % ± 5 main, train.py:44 in torch/_tensor.py:487"),
                 ("too few", "Meanwhile", "observed")),
    "alone": (("the loads, by 1,000 samples", "80 % ± 3 collate, train.py:12"),
              ("the loop that waits", "main, train.py:41")),
    "delivery": (("57 % ± 4 main, train.py:41 the loop that waits, in "
                  "multiprocessing/connection.py:378 Connection._recv",
                  "43 % ± 4 Balanced.__iter__.<listcomp>, data/sampler.py:27"), ("the loads",)),
    "held": (("another thread of the training's process held the interpreter: metrics, train.py:15, "
              "in 94 % ± 3 of the waits", "metrics, train.py:15, in 10 % ± 4 of the steps"), ()),
    "fast": (("Waits too few samples of lines: 10",), ("the waits, by",)),
    "few": (("Loads too few samples of lines: 10", "Waits too few samples of lines: 12"), ("%",)),
    "refused": (("Lines not observed: the kernel does not let dlprof read other processes "
                 "(ptrace_scope 2)",), ("%",)),
    "many": (("a/data/read.py:2", "b/data/read.py:3", "f5", "call, torch/nn/module.py:9"),
             ("f6", "seldom")),
}

# {run: the line that the screen names}
NAMES = {
    "capacity": "collate, train.py:12, takes 80 % (± 3) of a load",
    "alone": "collate, train.py:12, takes 80 % (± 3) of a load",
    "delivery": "Balanced.__iter__.<listcomp>, data/sampler.py:27, takes 43 % (± 4) of the waits",
    "held": "metrics, train.py:15, in another thread, holds the interpreter in 94 % (± 3) of the waits",
    "fast": "main, train.py:44, takes 70 % (± 5) of the steps, mostly in Tensor.backward, torch/_tensor.py",
    "pauses": "save, saving.py:88, takes 33 % (± 3) of the steps",
    "spread": "augment, train.py:70, takes 21 % (± 3) of a load, the whole function 85 %",
    "few": None,
    "refused": None,
    "many": "call, torch/nn/module.py:9, takes 40 % (± 4) of a load",
}


def section(text):
    """Returns the text from "In your code" up to the waits over time."""
    found = re.search(r"\n  In your code.*?(?=\n  Waits over time)", text, re.S)
    return forms.flat(found.group(0)) if found else ""


def check_section(folder):
    for name, (said, unsaid) in SAYS.items():
        path = line_runs.RUNS[name](os.path.join(folder, name + ".db"))
        text = section(forms.run(path, "-v"))
        for words in said:
            t.check(words in text, name, "lacks", words, text)
        for words in unsaid:
            t.check(words not in text, name, "says", words, text)
        forms.check_forms(path)
        for form in (forms.run(path, "-v", "--markdown"), forms.words_of(forms.run(path, "html"))):
            for words in re.findall(r"[a-z/]+\.py:\d+", text):
                t.check(words in form.replace("\\", ""), name, "lacks in another form", words)


def line_of(text):
    """Returns the screen's words on a line; None: it has none."""
    found = re.search(r"\n  Line   (.*?)(?=\n\n|\n  [A-Z])", text, re.S)
    return forms.flat(found.group(1)) if found else None


def check_names(folder):
    t.equal(sorted(NAMES), sorted(line_runs.RUNS), "runs whose line is known")
    for name, make in line_runs.RUNS.items():
        path = make(os.path.join(folder, "named.db"))
        t.equal(line_of(forms.run(path)), NAMES[name], name)
        t.check(forms.run(path).count(", takes ") <= 1, name, "names a line twice", forms.run(path))
        t.check(not NAMES[name] or "-v names the lines" not in forms.flat(forms.run(path)), name,
                "sends to -v for a line that it names", forms.run(path))
        for form in ("--markdown", "html"):
            text = forms.run(path, form)
            text = forms.words_of(text) if form == "html" else \
                html.unescape(forms.flat(text)).replace("\\", "")
            t.equal((NAMES[name] or "(±") in text, NAMES[name] is not None, name, form, text[:900])


def check_wrapped(folder):
    """A range ends without the longest function, but for one that collates by other Python code than NumPy's."""
    numpy, item = line_runs.TORCH.replace("/torch/", "/numpy/_core/") + "_methods.py", (line_runs.TRAIN, "Pics.__getitem__", 22)
    for file, own, is_open in ((numpy, line_runs.COLLATE, True), (line_runs.TORCH + "_tensor.py", line_runs.COLLATE, False),
                               (line_runs.TORCH + "_tensor.py", item, True)):
        rundb = line_runs.rundb
        path = rundb.build(
            os.path.join(folder, "wrapped.db"),
            [rundb.loader(rundb.simulate(60, 4, 60, 10, epochs=6), workers=4)], meta=dict(line_runs.META, cpus="2"),
            lines=[("worker", 1, "load", [(file, "_sum", 49), own, line_runs.FETCH], 1000)])
        t.equal("half the CPU, or less" in forms.flat(forms.run(path)), is_open, file, own, forms.run(path))
        t.check("half the CPU" in forms.flat(forms.run(path)), file, forms.run(path))


def check_leader(folder):
    """Where loads are too slow, "Why" begins with what takes most of them, and the remedy with where to begin."""
    rundb = line_runs.rundb
    own = (line_runs.TRAIN, "Pics.__getitem__", 22)
    collate, tensor = line_runs.COLLATE, line_runs.TENSOR
    for frame, share, other, leader in ((collate, 0.8, tensor, "collate"), (own, 0.8, tensor, "Line train.py:22"),
                                        (collate, 0.45, tensor, None), (tensor, 0.8, collate, None)):
        path = rundb.build(
            os.path.join(folder, "leader.db"),
            [rundb.loader(rundb.simulate(60, 4, 60, 10, epochs=6), workers=4)], meta=dict(line_runs.META, cpus="2"),
            lines=[("worker", 1, "load", [frame, line_runs.FETCH], int(1000 * share)),
                   ("worker", 1, "load", [other, line_runs.FETCH], int(1000 - 1000 * share))])
        text = forms.flat(forms.run(path))
        t.equal(" takes most of a load: the workers cannot keep up" in text, leader is not None, text)
        t.check(("Why " + (leader or "The workers cannot keep up")) in text, leader, text)
        t.equal("Begin with " in text, leader is not None, text)
        t.check(not leader or "Begin with {}: {}".format(
            leader.replace("Line", "line"), "stack whole arrays" if leader == "collate" else "do what") in text, text)
        forms.check_forms(path)
    for function, remedy in (("Metrics.log", "Do what follows the optimizer less often"),
                             ("Places.__init__", "Make that object once, before the loop")):
        path = line_runs.after(os.path.join(folder, "after.db"), function)
        text = forms.flat(forms.run(path))
        t.check(re.search(r"Why (Metrics.log|Line train.py:61) takes most of what the training does after the "
                          "optimizer. It takes", text), text)
        t.check("1. " + remedy in text, text)
    path = line_runs.after(os.path.join(folder, "gap.db"), "Pairs.draw", 5000)
    text, step = forms.flat(forms.run(path)), json.loads(forms.run(path, "--json"))["step"]
    t.check("Pairs.draw takes most of what the training does between epochs. It takes" in text, text)
    t.check("1. Do what lies between epochs faster" in text and "between epochs 15.0 s in all" in text, text)
    t.check("of the time after the optimizer and between epochs" in text, text)
    t.check(0.6 < step["between_epochs"] < 0.7 and step["after"] > 0.9, step)
    for gap_ms, wanted in ((5000, "logging"), (0, "loader_capacity")):
        path = line_runs.after(os.path.join(folder, "high.db"), "Pairs.draw", gap_ms, load_ms=100)
        t.equal(json.loads(forms.run(path, "--json"))["cause"], wanted, "of a highly input-bound run", gap_ms)
    text = forms.flat(forms.run(line_runs.alone(os.path.join(folder, "alone.db"))))
    t.check("Why collate takes most of a load, and the loader has no workers: every batch" in text, text)
    for every, words in ((100, "The last step of each epoch takes"), (50, "Every 50th step takes")):
        batches = rundb.simulate(100, 4, 20, lambda i: 200 if i % every == every - 1 else 10, epochs=4)
        path = rundb.build(os.path.join(folder, "last.db"), [rundb.loader(batches, workers=4)])
        t.check(words in forms.flat(forms.run(path)), words, forms.run(path))


def cpu_remedy(path):
    steps = {step["id"]: step for step in json.loads(forms.run(path, "--json"))["advice"]}
    return steps["reduce_cpu_per_batch"]["how"]


def check_begin(folder):
    """Less CPU begins with the user's line that computes, not with one that sleeps, nor with its transform."""
    rundb, path = line_runs.rundb, os.path.join(folder, "begin.db")
    own, other = (line_runs.TRAIN, "Pics.__getitem__", 22), (line_runs.TRAIN, "Pics.__getitem__", 23)
    for frames, cpu, words in (([own], 0.9, "Begin with line train.py:22: do what"), ([own], 0.3, "Do what"),
                               ([own, other], 0.9, "Begin with Pics.__getitem__: do what"),
                               ([line_runs.TENSOR, own], 0.9, "ElasticTransform takes 80 % of a load: choose a cheaper")):
        batches = [dict(row, cpu_ns=int(cpu * row["load_ns"])) for row in rundb.simulate(60, 4, 60, 10, epochs=6)]
        is_split = frames == [own, other]
        stacks = [[own], [other]] if is_split else [frames]
        rundb.build(path, [rundb.loader(batches, workers=4)], meta=dict(line_runs.META, cpus="2"),
                    lines=[("worker", 1, "load", stack + [line_runs.FETCH], 1000 // len(stacks) - 50 * number)
                           for number, stack in enumerate(stacks)] +
                    [("worker", 1, "load", [line_runs.COLLATE, line_runs.FETCH], 200)])
        with sqlite3.connect(path) as database:
            database.execute("INSERT INTO t_total SELECT 'step', 'ElasticTransform', 'torchvision', 0, COUNT(*),"
                             " SUM(load_ns) * ?, 0, 0, 1000, 0 FROM t_batch", (0.4 if is_split or cpu < 0.5 else 0.8,))
        t.check(cpu_remedy(path).startswith(words), cpu_remedy(path), words)
        t.equal("Line train.py:22 takes most of a load" in forms.flat(forms.run(path)), not is_split, words)


def check_callee(folder):
    """Of a line of the user's the screen names the innermost library function with half of its time or more."""
    rundb, package = line_runs.rundb, line_runs.TORCH.replace("/torch/", "/monai/")
    own, compose = (line_runs.TRAIN, "Repeat.__getitem__", 56), (package + "compose.py", "Compose.__call__", 9)
    crop, call = (package + "crop.py", "Crop.randomize", 30), (package + "crop.py", "Crop._call", 20)
    find, wrapped = (package + "utils.py", "nonzero", 5), (package + "utils.py", "wrapper", 6)
    for inner, share, words in (([wrapped, find, call, crop, compose], 0.6, ", mostly in nonzero, monai/utils.py"),
                                ([wrapped, find, call, crop, compose], 0.4, ", mostly in Crop.randomize, monai/crop.py"),
                                ([find, crop, find, crop, compose], 1, ", mostly in nonzero, monai/utils.py"),
                                ([("/usr/lib/python3.11/threading.py", "Condition.wait", 320), find, crop], 1,
                                 ", mostly in nonzero, monai/utils.py"),
                                ([wrapped, call], 1, None)):
        path = rundb.build(
            os.path.join(folder, "callee.db"), [rundb.loader(rundb.simulate(400, 4, 60, 10), workers=4)],
            meta=line_runs.META,
            lines=[("worker", 1, "load", inner + [own, line_runs.FETCH], int(1000 * share)),
                   ("worker", 1, "load", [crop, compose, own, line_runs.FETCH], int(1000 - 1000 * share))])
        named = line_of(forms.run(path))
        t.check(named.startswith("Repeat.__getitem__, train.py:56, takes 100 % (± 1) of a load"), named)
        t.equal(named.partition("of a load")[2], words or "", named)


def check_callee_of_steps(folder):
    """Of a line that calls a model, too, the screen names the function that takes the time."""
    package = line_runs.TORCH.replace("/torch/", "/torchvision/")
    boxes, match = (package + "ops/boxes.py", "box_iou", 310), (package + "models/retinanet.py", "match", 40)
    for share, words in ((0.9, ", mostly in box_iou, torchvision/ops/boxes.py"),
                         (0.4, ", mostly in match, torchvision/models/retinanet.py")):
        path = line_runs.rundb.build(
            os.path.join(folder, "steps.db"),
            [line_runs.rundb.loader(line_runs.rundb.simulate(400, 4, 20, 10), workers=4)], meta=line_runs.META,
            lines=[("main", 1, "step", [boxes, match, line_runs.STEP], int(800 * share)),
                   ("main", 1, "step", [match, line_runs.STEP], int(800 * (1 - share))),
                   ("main", 1, "step", [(line_runs.TRAIN, "log", 61), line_runs.MAIN], 200)])
        named = line_of(forms.run(path))
        t.check(named.startswith("main, train.py:44, takes 80 %"), named)
        t.equal(named.partition("of the steps")[2], words, named)


def check_not_named(folder):
    """Samples are of the whole run: a part of the run has none. A line of all steps is no cause of pauses, nor
    are lines named where it is not known whose the waits are."""
    path = line_runs.capacity(os.path.join(folder, "part.db"))
    for part in (["--epoch", "0"], ["--batches", "20:300"]):
        t.equal(line_of(forms.run(path, *part)), None, part)
    for share in (0.1, 0.5):
        path = line_runs.pauses(os.path.join(folder, "pauses.db"), share=share)
        t.equal(line_of(forms.run(path)), None, "pauses that cost a third, and a line of", share)
    path = line_runs.capacity(os.path.join(folder, "doubt.db"), notes=["another thread asks"])
    database = line_runs.rundb.sqlite3.connect(path)
    database.execute("UPDATE t_note SET level = 'doubt'")
    database.commit()
    database.close()
    t.equal(line_of(forms.run(path)), None, "in doubt")


def check_json(folder):
    keys = ["phase", "role", "file", "line", "function", "share", "error", "samples"]
    for name, make in line_runs.RUNS.items():
        path = make(os.path.join(folder, "json.db"))
        rows = json.loads(t.report("--json", path).out)["lines"]
        t.equal(rows is None, name == "refused", name)
        t.equal([row for row in rows or () if list(row) != keys], [], name, "keys")
    rows = json.loads(t.report("--json", line_runs.held(path)).out)["lines"]
    first, held = rows[0], next(row for row in rows if row["role"] == "thread")
    t.equal((first["phase"], first["role"], first["file"], first["line"], first["function"],
             first["share"], first["samples"]),
            ("wait", "main", line_runs.TRAIN, 41, "main", 1, 400), "the longest")
    t.check(0 < first["error"] < 0.02, "it is not certain", first)
    t.equal((held["phase"], held["function"], held["share"]), ("wait", "metrics", 0.94), "who held")


def check_crowded(folder):
    path = line_runs.crowded(os.path.join(folder, "crowded.db"))
    forms.check_fits(path, forms.run(path))
    t.check("\ufffd" not in forms.run(path, "-v"), "half a character")


def check_order(folder):
    """The user's own lines come before a library's lines, and those with the most time first."""
    text = section(forms.run(line_runs.capacity(os.path.join(folder, "order.db")), "-v"))
    places = [text.find(words) for words in ("collate, ", "Pics.__getitem__, ", "open, ")]
    t.check(-1 not in places and places == sorted(places), "order", text)
    text = section(forms.run(line_runs.many(os.path.join(folder, "many.db")), "-v"))
    t.check(text.find("f5, ") < text.find("call, "), "the longest is a library's, and comes last", text)


def check_nothing(folder):
    """Without samples of lines the report does not mention lines."""
    path = line_runs.rundb.lockstep(os.path.join(folder, "nothing.db"))
    t.check("your code" not in forms.run(path, "-v"), "nothing is known")


def check_ascii(folder):
    path = line_runs.held(os.path.join(folder, "ascii.db"))
    text = forms.run(path, "-v", "--ascii")
    t.check(text.isascii() and "94 % +- 3" in text, "ASCII", section(text))


QUEUE = ("/usr/lib/python3.11/multiprocessing/queues.py", "Queue.get", 103)
LOOP = (line_runs.TORCH + "utils/data/_utils/worker.py", "_worker_loop", 275)
RECV = ("/usr/lib/python3.11/ssl.py", "SSLSocket.recv", 1263)
FETCH = ("/home/me/proj/s3client.py", "S3.fetch", 88)
GAP_S = 41 * 60
# pid, role, worker, frames, seconds for which it has been there, seconds since it was seen
DOING = ((910, "worker", 3, [RECV, FETCH, LOOP], GAP_S, 0),
         (911, "worker", 4, [line_runs.SELECT, QUEUE, LOOP], GAP_S, 0),  # waits for a task
         (912, "worker", 5, [line_runs.SELECT, QUEUE], GAP_S, 0),
         (913, "worker", 6, [QUEUE, FETCH, LOOP], 15, 0),  # waits in a queue of the program's
         (914, "worker", 7, [FETCH], 9, 0),
         (915, "worker", 8, [FETCH], GAP_S, 60),  # has ended
         (916, "main", None, [RECV, FETCH], GAP_S, 0),  # batches came meanwhile
         (917, "worker", 9, [], GAP_S, 0))


def add_doing(path, base_ns):
    """Stores where processes are, in the database of a run that records or is over."""
    database = sqlite3.connect(path, timeout=30)
    ids = {}
    for _, _, _, frames, _, _ in DOING:
        for frame in frames:
            database.execute("INSERT OR IGNORE INTO t_frame (file, function, line) VALUES (?, ?, ?)",
                             frame)
            ids[frame], = database.execute("SELECT id FROM t_frame WHERE file = ? AND function = ?"
                                           " AND line = ?", frame).fetchone()
    for pid, role, worker, frames, since, seen in DOING:
        line_runs.rundb.insert(database, "t_doing", {
            "pid": pid, "role": role, "worker_id": worker,
            "since_ns": base_ns - (since + seen) * 10**9, "seen_ns": base_ns - seen * 10**9,
            "frames": " ".join(str(ids[frame]) for frame in frames)})
    database.commit()
    database.close()


def check_stuck(folder):
    """The report names a process that does not go on while the run records, and not when it is over."""
    path = os.path.join(folder, "live.db")
    demo = subprocess.Popen([t.DLPROF, "demo", "slow_worker", "-q", "--json", "-o", path],
                            env=t.environment(preload=False), stdout=subprocess.DEVNULL)
    end = time.monotonic() + 30
    while (not os.path.exists(path) or t.report("top", path).status) \
            and time.monotonic() < end:
        time.sleep(0.02)
    add_doing(path, time.monotonic_ns())
    text, top = forms.run(path), forms.run(path, "top")
    found = json.loads(t.report("--json", path).out)["stuck"]
    live = demo.poll() is None
    demo.wait()
    t.wait_for_drain(path)
    t.check(live, "the demo ended before it was looked at")
    for shown in (text, top):
        t.equal(re.findall(r"^  Stuck +(.*)$", shown, re.M),
                ["worker 3: 41 min in SSLSocket.recv(), proj/s3client.py:88",
                 "worker 6: 15.0 s in Queue.get(), proj/s3client.py:88"], shown)
    forms.check_fits(path, text)
    t.equal([(row["pid"], row["worker"], row["time_s"], row["file"], row["line"], row["function"])
             for row in found],
            [(910, 3, GAP_S, FETCH[0], 88, RECV[1]), (913, 6, 15, FETCH[0], 88, QUEUE[1])], "JSON")
    over = line_runs.capacity(os.path.join(folder, "over.db"))
    add_doing(over, line_runs.rundb.START_NS + GAP_S * 10**9)
    t.check("Stuck" not in forms.run(over, "-v") and "Stuck" not in t.report("top", over).out, "is over")
    t.equal(json.loads(t.report("--json", over).out)["stuck"], [], "is over")


def main():
    t.need_shim()
    folder = t.scratch()
    for check in (check_section, check_names, check_wrapped, check_leader, check_begin, check_callee,
                  check_callee_of_steps, check_not_named, check_json, check_crowded, check_order,
                  check_nothing, check_ascii, check_stuck):
        check(folder)
    t.finish()


main()
