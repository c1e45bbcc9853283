# SPDX-License-Identifier: Apache-2.0
"""The report fits a screen of 22 lines of 80 columns, and all its forms say the same."""
import json
import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import forms
import pages
import rundb

MS = rundb.MS


def check_kinds(folder):
    for name, (make, _) in pages.RUNS.items():
        path = make(os.path.join(folder, name + ".db"))
        forms.check_forms(path)
        check_shares(path)


def check_shares(path):
    """Below the bar and in the account a part has the same share, and in the bar as many cells."""
    whole, text = forms.run(path, "-v"), forms.run(path)
    bar = "".join(re.findall(r"^  ([█▓▚▒░·]+)$", text, re.M))
    legend = re.findall(r"([█▓▚▒░·]) ([a-z ]+) (?:< )?([\d.]+) %", text)
    t.equal(len(bar), (forms.COLUMNS - 4) * bool(legend), path, "cells of", text)
    for glyph, part, share in legend:
        cells, wanted = bar.count(glyph), float(share) / 100 * len(bar)
        t.check(cells >= 1 and abs(cells - wanted) <= 2, path, part, "has", cells, "cells of", wanted, text)
    for part, share in re.findall(r"[█▓▚▒·] ([a-z ]+) ([\d.]+ %)", text):
        t.check(re.search(r"^    {} .*\b{}  ".format(part, share), whole, re.M),
                path, part, share, "not in", whole)
        if part == "receiving" and "Also: receiving" in forms.flat(whole):
            t.check("receiving finished batches, " + share in forms.flat(whole), share, whole)


def check_parts(folder):
    """Each part of the account is named with its own number, and not with another part's."""
    batches = rundb.simulate(40, 4, 60, 10, epochs=6)
    path = rundb.build(os.path.join(folder, "parts.db"), [rundb.loader(batches, workers=4)])
    forms.check_forms(path)
    check_shares(path)
    text = forms.run(path)
    for words in ("not ready", "receiving", "epoch start", "step"):
        t.check(words in text, "no part", words, text)
    t.check("epoch end" not in text, "a part that is nothing", text)
    # Where nearly all is one part, those after it have a cell each, within the bar.
    batches = rundb.simulate(60, 1, 1000, 10, delivery_ms=20)
    for batch in batches:
        batch["sample_ns"] = 10 * MS
    path = rundb.build(os.path.join(folder, "waits.db"), [rundb.loader(batches, workers=1)])
    check_shares(path)
    bar = re.findall("^  (█+)▓▚·$", forms.run(path), re.M)
    t.equal([len(cells) for cells in bar], [forms.COLUMNS - 4 - 3], "parts of a bar")


def check_threads(folder):
    """Of the other threads of the training, those with next to no CPU time are left out."""
    path = rundb.build(os.path.join(folder, "threads.db"), [rundb.loader(rundb.simulate(400, 2, 20, 20), workers=2)],
                       meta={"schema": "10"})
    with sqlite3.connect(path) as database:
        for tid, name, cpu_ms in ((42, "python", 4000), (43, "feeder", 900), (44, "idler", 10)):
            rundb.insert(database, "t_thread", {"pid": 42, "tid": tid, "name": name, "cpu_ns": cpu_ms * MS})
    text = forms.flat(t.report("-v", path).out)
    t.check("Threads that had most CPU beside the one that trains: feeder 900 ms " in text and "idler" not in text, text)


def check_causes(folder):
    """A first or second cause that is a part of the bar has that part's share."""
    path = os.path.join(folder, "causes.db")
    for batches, words in (
            (rundb.simulate(400, 4, 20, 20, delivery_ms=4, epochs=3), " s, 17 % of the time."),
            (rundb.simulate(400, 4, 30, 12, delivery_ms=3, epochs=3), " s, 19 % of the time."),
            (rundb.simulate(400, 4, 44, 8, delivery_ms=1), "Also: receiving finished batches, 9 %"),
            (rundb.simulate(400, 4, 46, 8, delivery_ms=1), "Also: receiving finished batches, 9 %")):
        rundb.build(path, [rundb.loader(batches, workers=4)])
        t.check(words in forms.flat(forms.run(path)), words, forms.run(path))
        check_shares(path)


def check_warning(folder):
    """The screen has one line on what makes the report doubtful; -v has the rest of that note."""
    path = rundb.build(os.path.join(folder, "warned.db"),
                       [rundb.loader(rundb.simulate(400, 4, 60, 10), workers=4)],
                       losses=[5, 4], notes=["odd " + "w" * 200, "second", "third"])
    text = forms.run(path)
    warned = [line for line in text.splitlines() if line.startswith("  Warn ")]
    t.equal(len(warned), 1, "lines of warnings", text)
    t.check("9 records lost" in text, "what was lost", text)
    whole = forms.flat(forms.run(path, "-v"))
    for words in ("9 records were dropped", "second", "third"):
        t.check(words in whole, "-v does not say", words, whole)
    forms.check_forms(path)
    note = "600 batches were loaded and thrown away to resume, in 5 s: begin where the checkpoint ended"
    for load_ms, is_whole in ((200, False), (10, True)):
        rundb.build(path, [rundb.loader(rundb.simulate(400, 4, load_ms, 40), workers=4)], notes=[note])
        t.equal(note in forms.flat(forms.run(path)), is_whole, "the only note of a calm run", forms.run(path))
        t.check(note[:56] in forms.run(path), "its first part", forms.run(path))


def check_doubt(folder):
    """If the waits may be for another loader there is no verdict, no ratio and no promised gain."""
    path = rundb.build(os.path.join(folder, "doubt.db"),
                       [rundb.loader(rundb.simulate(400, 4, 60, 10), workers=4)],
                       notes=["a warning", "another thread asks"])
    database = sqlite3.connect(path)
    database.execute("UPDATE t_note SET level = 'doubt' WHERE text LIKE 'another%'")
    database.commit()
    database.close()
    text, facts = forms.run(path), forms.check_forms(path)
    t.equal([line.strip() for line in text.splitlines()[2:4]],
            ["IN DOUBT   it is not known whose waits these are", "another thread asks"], text)
    for form in (text, forms.run(path, "-v"), forms.run(path, "--markdown"),
                 forms.words_of(t.report("html", path, "-o", "-").out)):
        t.check("IN DOUBT" in form and "INPUT-BOUND" not in form and
                "spent waiting" not in form, "no verdict", form[:2000])
    t.equal((facts["verdict"], facts["starved"], facts["stall"]["in_doubt"],
             facts["stall"]["ratio"] > 0.1), ("in_doubt", None, True, True), "JSON")
    t.equal((t.report(path).status, t.report("--json", path).status), (3, 3), "status")
    t.check("Warn   a warning" in text, "the warning", text)
    for shown in (text, forms.run(path, "-v")):
        t.check(not re.search("With ideal input|about [0-9.]+x|up to [0-9.]+x|  Why |  Next ", shown),
                "neither a cause nor a promise", shown)
    t.check("nothing: the waits may not be the training's" in forms.flat(forms.run(path, "-v")),
            "why nothing is predicted")
    t.equal((facts["cause"], facts["advice"], facts["whatif"], facts["not_useful"]),
            (None, [], [], []), "no promise in JSON")
    t.equal((facts["confidence"], facts["coverage"]["warnings"]),
            ("low", ["another thread asks", "a warning"]), "JSON")
    done = t.run([t.REPORT, "gate", path, "--max-stall-ratio", "10%"],
                 env=t.environment(preload=False))
    t.equal(done.status, 3, "status of a gate")
    t.check("may not be the training's" in forms.flat(done.out), "a reason", done.out)
    compared = t.report("compare", path, path).out
    t.check("it is not known whose waits these are" in compared, "compare", compared)
    t.check("IN DOUBT" not in t.report("--explain", "in_doubt").err, "a page")


def check_ranks_in_doubt(folder):
    """One doubtful rank makes a job doubtful, in the ranks' table and with partials too."""
    job = os.path.join(folder, "job")
    os.mkdir(job)
    for rank in range(2):
        rundb.build(os.path.join(job, "rank%d.db" % rank),
                    [rundb.loader(rundb.simulate(400, 4, 60, 10 + rank), workers=4)],
                    notes=["another thread asks"] if rank else [],
                    meta={"rank": rank, "world_size": 2, "job_id": "7"})
    database = sqlite3.connect(os.path.join(job, "rank1.db"))
    database.execute("UPDATE t_note SET level = 'doubt'")
    database.commit()
    database.close()
    part = os.path.join(folder, "job.part")
    t.equal(t.report("fold", job, "-o", part).status, 0, "fold")
    for words in ([job], ["fold", part]):
        done = t.report(*words)
        t.check("IN DOUBT   it is not known whose waits these are" in done.out, words, done.out)
        t.check("of the job's time" not in done.out, "no ratio", done.out)
        facts = json.loads(t.report(*words[:-1], "--json", words[-1]).out)
        t.equal((facts["verdict"], facts["starved"], facts["stall"]["in_doubt"], done.status),
                ("in_doubt", None, True, 3), words)


def check_few(folder):
    """The report says how many batches a verdict lacks: not all batches that were seen count."""
    for count, words in ((1, "1 batch was seen; 0 count,"),
                         (2, "2 batches were seen; 1 counts,"),
                         (19, "19 batches were seen; 18 count,"),
                         (20, "20 batches were seen; 19 count,"), (21, None)):
        path = rundb.build(os.path.join(folder, "few%d.db" % count),
                           [rundb.loader(rundb.simulate(count, 1, 6, 10), workers=1)])
        text = forms.flat(forms.run(path))
        t.check(words is None or words + " as the first and those without a whole step do not. A verdict needs 20."
                in text, count, text)
        t.equal("INCOMPLETE" in text, words is not None, count, text)


def check_selection(folder):
    """The report of a part of the run says which part it is, and its bar sums up to 100."""
    path = pages.lockstep(os.path.join(folder, "part.db"))
    forms.check_forms(path, "--batches", "20:79")
    t.check("Only   batches 20 to 79 of loader 1" in forms.run(path, "--batches", "20:79"), "Only")


def check_ranges(folder):
    """A range of gain ends at ideal input's, and says that it assumes that other programs keep their cores."""
    batches = [dict(batch, cpu_ns=batch["load_ns"]) for batch in rundb.simulate(400, 4, 60, 13)]
    for neighbours in (None, "t 1 1.5 2.0"):
        path = rundb.build(os.path.join(folder, "ranges.db"), [rundb.loader(batches, workers=4)],
                           meta={"neighbours": neighbours, "cpus": "6"})
        forms.check_forms(path)
        words = forms.flat(forms.run(path))
        t.check(re.search(r"about [\d.]+x \([\d.]+x to [\d.]+x", words), "no range", words)
        t.equal(words.count("if other programs stay as busy"), int(neighbours is not None), words)


def check_delivery(folder):
    """Tensors are no cause if they were not counted; other programs are one if they used the cores."""
    later = 0
    delayed = rundb.simulate(400, 4, 20, 10, delivery_ms=1)
    for number, batch in enumerate(delayed):
        batch["begin_ns"] += later
        batch["load_begin_ns"] += later
        if number % 2:
            batch["wait_ns"] += 10 * MS
            batch["step_ns"] += 10 * MS
            later += 10 * MS
    gathered = rundb.simulate(1280, 4, 1, lambda i: 20 if i % 64 == 63 else 0.001, delivery_ms=2)
    crowd = {"other_cpu_ns": "1500", "other_cpu_of_ns": "1000", "cpus": "2"}
    for batches, meta, words in (
            (delayed, {}, "lists parts of the receiving, and lines of code in the waits"),
            (delayed, crowd, "Other programs took 1.5 of the 2 cores"),
            # What the training started, such as a Manager, is no other program.
            (delayed, dict(crowd, helpers_cpu_ns="1500", main_cpu_of_ns="1000"),
             "lists parts of the receiving, and lines of code in the waits"),
            (rundb.simulate(400, 4, 20, 50, delivery_ms=4), {}, "Why Steps take 93 % of the time. Receiving finished batches"),
            (gathered, {}, "1. Let the workers put the 64 batches of a step together")):
        size = {"batch_size": None} if batches is gathered else {}
        path = rundb.build(os.path.join(folder, "delivery.db"), [rundb.loader(batches, workers=4, **size)],
                           meta=meta)
        text = forms.flat(forms.run(path))
        t.check(words in text, "the remedy", words, text)
        t.check("tensors" not in text and "pin_memory" not in text, "not observed", text)
        t.equal("Others took 1.5 of the 2 cores" in text, meta == crowd, meta, text)
        if "parts" in words:
            found = json.loads(t.report("--json", path).out)
            t.check(abs(found["advice"][0]["gain"] - 1 / (1 - found["stall"]["receiving"]) + 1) < 1e-6,
                    "no gain beyond that of no receiving", found["advice"])


def check_long_step(folder):
    """A long first step, in which a model is compiled, does not hide the waits."""
    for longer_s, words in ((60, "Why Without one step of 60.0 s (compiling a model?) 33 % of"),
                            (0.1, "Why The workers cannot keep up")):
        batches = rundb.simulate(400, 4, 60, 10)
        batches[0]["step_ns"] += int(longer_s * 1000 * MS)
        batches[0]["compute_ns"] += int(longer_s * 1000 * MS)
        for batch in batches[1:]:
            batch["begin_ns"] += int(longer_s * 1000 * MS)
            batch["load_begin_ns"] += int(longer_s * 1000 * MS)
        path = rundb.build(os.path.join(folder, "step.db"), [rundb.loader(batches, workers=4)])
        text = forms.flat(forms.run(path))
        t.check(words in text, "the reason", words, text)
        t.equal("Nothing in the loader" in text, False, text)
        forms.check_forms(path)


def check_no_prediction(folder):
    """Where the replay differs from the run, the screen says that no setting is predicted."""
    for alone in (False, True):
        batches = rundb.simulate(300, 2, 120, 20)
        for batch in batches:
            batch["worker_id"] *= not alone
        path = rundb.build(os.path.join(folder, "alone.db"), [rundb.loader(batches, workers=2)])
        text = forms.flat(forms.run(path))
        t.equal("No prediction: the replay of the run as it was differs from the run" in text, alone, text)
        t.equal("No prefetch_factor 1.00x" in text, not alone, text)
        forms.check_forms(path)


def check_own_loaders(folder):
    """A program without DataLoader is not advised to give it workers, nor a Python program to call C functions."""
    marks = rundb.loader(rundb.simulate(400, 0, 20, 10), workers=0, kind="marks")
    waits = [{name: batch[name] for name in ("epoch", "task", "batch", "begin_ns", "wait_ns",
                                             "step_ns", "compute_ns")} for batch in marks[1]]
    for loader, words, never in (
            (marks, ["Load beside the training, in threads or processes", "would be enough",
                     "batches: not ready, and waited for"], ["num_workers"]),
            (rundb.loader(waits, kind="batch_fn"),
             ["Make the loader faster: up to", "Let it load beside the training",
              "or more; whether they were ready is not known"], ["dlprof.h", "not ready, and"]),
            (rundb.loader(waits, kind="marks"), ["mark its loads (dlprof.h) to see how"], [])):
        path = rundb.build(os.path.join(folder, "own.db"), [loader])
        text = forms.flat(forms.run(path, "-v"))
        for part in words:
            t.check(part in text, loader[0]["kind"], "does not say", part, text)
        for part in never:
            t.check(part not in text, loader[0]["kind"], "says", part, text)
        forms.check_forms(path)


def check_advice(folder):
    """No advice is given that the run itself contradicts."""
    asleep = [dict(batch, blocked_ns=int(0.9 * batch["load_ns"]), read_ns=0, open_ns=0, cpu_ns=0)
              for batch in rundb.simulate(400, 2, 60, 14)]
    quick = rundb.simulate(500, 2, 24, lambda i: 2 if i < 150 else 14)
    cold = [dict(batch, cpu_ns=batch["load_ns"] // 4) for batch in
            rundb.simulate(200, 1, 80, 20, epochs=1)] + [
        dict(batch, epoch=batch["epoch"] + 1) for batch in rundb.simulate(200, 1, 8, 20, epochs=3)]
    for batches, words, never in (
            (rundb.simulate(1, 2, 30, 15, epochs=100), "Call iter(loader) once", "made once"),
            (asleep, "sleeping 90 %", "Pattern stalls come by the clock"),
            (quick, "The workers cannot keep up", "because loads differ"),
            (cold, "% of its time the training waits for unfinished batches, later for 0 %",
             "come by the clock")):
        workers = max(batch["worker_id"] for batch in batches) + 1
        path = rundb.build(os.path.join(folder, "advice.db"),
                           [rundb.loader(batches, workers=max(workers, 1))])
        database = sqlite3.connect(path)
        pages.add_total(database, "step", "D", "dataset", ns=MS)
        database.commit()
        database.close()
        text = forms.flat(forms.run(path, "-v"))
        t.check(words in text, "does not say", words, text)
        t.check(never not in text, "says", never, text)
        forms.check_forms(path)


def check_asked(folder):
    """--what-if is answered on the screen, or the screen says why it cannot be."""
    path = rundb.lockstep(os.path.join(folder, "asked.db"))
    for form in ("-v", "--markdown", "-q"):
        text = forms.flat(forms.run(path, form, "--what-if", "workers=14", "--what-if", "load=0.5"))
        text = text.replace("\\", "").replace("*", "")
        for words in ("If workers=14: 1.46x as fast (1.", "load=0.5: 1."):
            t.check(words in text, form, words, text)
    waits = [{name: batch[name] for name in ("epoch", "task", "batch", "begin_ns", "wait_ns",
                                             "step_ns", "compute_ns")}
             for batch in rundb.simulate(400, 2, 60, 14)]
    path = rundb.build(path, [rundb.loader(waits)])
    text = forms.flat(forms.run(path, "--what-if", "workers=14"))
    t.check("If workers=14: cannot be predicted: " in text, text)


def check_single_wait(folder):
    """Few waits are named as such, and a gate that passes in spite of them says why."""
    batches = rundb.simulate(400, 4, 20, 10)
    batches[200]["load_ns"] += 4000 * MS
    batches[200]["wait_ns"] += 4000 * MS
    batches[200]["step_ns"] += 4000 * MS
    batches[200].update(head_ready=0, ready_ns=0)
    for batch in batches[201:]:
        batch["begin_ns"] += 4000 * MS
        batch["load_begin_ns"] += 4000 * MS
    path = rundb.build(os.path.join(folder, "single.db"), [rundb.loader(batches, workers=4)])
    text = forms.flat(forms.run(path))
    t.check("A few single waits make up nearly all of the waiting. They take" in text, text)
    done = t.run([t.REPORT, "gate", path, "--max-stall-ratio", "30%"],
                 env=t.environment(preload=False))
    t.check(done.status == 0 and " %, but with 99 % confidence only at least " in
            forms.flat(done.out), "a gate", done.out)


def check_slow_worker(folder):
    """-v has what the screen has no room for, and does not say that two of four workers are enough."""
    batches = rundb.simulate(400, 4, 20, 10, slow={2: 5})
    path = rundb.build(os.path.join(folder, "slow.db"), [rundb.loader(batches, workers=4)])
    text = forms.flat(forms.run(path, "-v"))
    t.check("if the slow ones are not among them" in text, "how many workers", text)
    t.check("Find out why some workers are slower" in text and "in_order=False: about" in text,
            "what to do", text)
    t.check("Worker 2 takes 5 times as long as the others;" in text and "is for its batches." in text, "one", text)
    forms.check_forms(path)
    path = rundb.build(os.path.join(folder, "two.db"), [rundb.loader(
        rundb.simulate(400, 8, 20, 4, slow={2: 5, 5: 5}), workers=8)])
    text = forms.flat(forms.run(path, "-v"))
    t.check("Workers 2 and 5 take 5 times as long as the others;" in text and
            "is for their batches." in text, "two", text)
    # A terminal that is too narrow for the 22 lines gets the report all the same.
    narrow = t.run([t.REPORT, path], env=t.environment(preload=False, COLUMNS="40", LC_ALL="C.UTF-8")).out
    t.check(len(narrow.splitlines()) > 22 and "Workers 2 and 5 take" in forms.flat(narrow), "narrow", narrow)


def check_loader(folder):
    """With --loader the report speaks of that loader's loop, and not of the training's time."""
    train, after = rundb.simulate(400, 4, 60, 10), rundb.simulate(100, 0, 20, 10)
    end_ns = train[-1]["begin_ns"] + train[-1]["step_ns"]
    for batch in after:
        batch["begin_ns"] += end_ns - rundb.START_NS
        batch["load_begin_ns"] += end_ns - rundb.START_NS
    path = rundb.build(os.path.join(folder, "loader.db"),
                       [rundb.loader(train, workers=4), rundb.loader(after, workers=0)])
    for options, words, never in (
            ([], ["of the time is spent", "this training would run", "its waits are 22 %"], []),
            (["--loader", "2"], ["66 % of this loader's own loop is spent", "this loop would run",
                                 "Which loader 2 of 2"], ["its waits are", "this training"])):
        text = forms.flat(forms.run(path, *options))
        for part in words:
            t.check(part in text, options, "does not say", part, text)
        for part in never:
            t.check(part not in text, options, "says", part, text)
    # Two counts of batches, as `--explain batches` tells them apart.
    found = json.loads(t.report("--json", path).out)
    loaders = {row["judged"]: row["batches"] for row in found["loaders"]}
    t.equal((found["stall"]["batches"], found["ranks"][0]["batches"], loaders), (400, 400, {True: 400, False: 100}))
    t.check("500 batches of several loaders" in forms.flat(t.report(path).out), "all loaders'")


def check_unseen_loads(folder):
    """Of a loader whose loads are not seen it depends on its kind what is to be done."""
    faster = "Make the loader faster."
    raised = "Raise the loader's own settings for parallel calls, threads and prefetching."
    marked = "Make the loader faster; mark its loads (dlprof.h) to see how."
    beside = ("Let it load beside the training, in threads or processes. In a PyTorch DataLoader dlprof would see the "
              "loads, too.")
    few = rundb.loader(rundb.simulate(20, 0, 2, 1), workers=0)
    for kind, others, said in (("batch_fn", [], (faster, beside)), ("batch_fn", [few], (faster, raised)),
                               ("marks", [], (marked, raised)), ("mine.Loader", [], (faster, raised))):
        batches = rundb.simulate(400, 0, 20, 10)
        for batch in batches:
            for key in ("load_begin_ns", "load_ns", "collate_ns", "cpu_ns", "read_ns", "open_ns"):
                batch[key] = None
        path = rundb.build(os.path.join(folder, "unseen.db"),
                           [rundb.loader(batches, kind=kind, workers=None, prefetch_factor=None)] + others)
        first = json.loads(t.report("--json", path).out)["advice"][0]
        t.equal((first["id"], first["text"], first["how"]), ("mark_loads",) + said, kind, len(others))


def main():
    folder = t.scratch()
    check_own_loaders(folder)
    check_advice(folder)
    check_asked(folder)
    check_single_wait(folder)
    check_slow_worker(folder)
    check_loader(folder)
    check_kinds(folder)
    check_parts(folder)
    check_threads(folder)
    check_causes(folder)
    check_warning(folder)
    check_doubt(folder)
    check_ranks_in_doubt(folder)
    check_few(folder)
    check_selection(folder)
    check_ranges(folder)
    check_delivery(folder)
    check_long_step(folder)
    check_no_prediction(folder)
    check_unseen_loads(folder)
    t.finish()


main()
