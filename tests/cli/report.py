# SPDX-License-Identifier: Apache-2.0
"""Tests dlprof-report's output: the text at every width, JSON, the rows, and options."""
import csv
import io
import json
import math
import os
import random
import re
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import pages
import rundb

MS = rundb.MS
UTF8 = {"LC_ALL": "C.UTF-8"}
NASTY = "python3 t\x1b[31mrain.py \"quo\\te\" \t\r\n\x01 gr\u00fc\u00df \u202e\x9b\u2067\u200f\u061c"

KEYS = {
    "": "schema run clock verdict starved cause confidence stall period compute_period slow_worker "
        "workers breakdown lines whatif advice not_useful coverage loss overhead ranks",
    "run": "path id command host start duration_s ranks frameworks",
    "stall": "ratio ci95 wait_s time_s not_ready receiving sampling epoch_start epoch_end "
             "startup_s theta_s batches steady_batches starved_batches masked_share gain_max gain_alone",
    "period": "batches p share phase modulated cost_s",
    "compute_period": "batches p share cost_s",
    "workers": "count prefetch_factor in_order load_mean_s load_cv rho eta needed cores",
    "breakdown": "open_s read_s decode_s collate_s other_cpu_s other_blocked_s transfer_s queue_s "
                 "h2d_s compute_s",
}


def report(*arguments, cwd=None, **changes):
    return t.run([t.REPORT] + list(arguments), cwd=cwd,
                 env=t.environment(preload=False, **changes))


def strict_json(text):
    def refuse(constant):
        raise ValueError(constant)
    return json.loads(text, parse_constant=refuse)


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def check_width(text, width, what):
    for line in text.splitlines():
        t.check(columns(line) <= width, what, "wider than", width, repr(line))
        t.check(line == line.rstrip(), what, "trailing blank", repr(line))


def check_lockstep(folder):
    rundb.lockstep(os.path.join(folder, "lockstep.db"))
    path = "lockstep.db"  # a short name, beside which the head has room for all else
    result = report(path, cwd=folder, **UTF8)
    t.equal((result.status, result.err), (0, ""), "lockstep")
    check_width(result.out, 80, "lockstep")
    lines = result.out.splitlines()
    t.check("lockstep.db" in lines[0] and "98 batches" in lines[0], "head", lines[0])
    t.check(re.match(r"  HIGHLY INPUT-BOUND   6\d % of the time is spent waiting", lines[2]),
            "the verdict comes first", lines[2])
    t.check(re.search(r"would run 2\.[5-9]x as fast", lines[3]), "the ceiling", lines[3])
    waits = next(line for line in lines if line.startswith("  Waits  "))
    cells = waits[9:].split("   ")[0]
    t.equal([i for i, cell in enumerate(cells) if cell == "\u2588"][:4], [0, 7, 14, 21],
            "a stall every seven", waits)
    flat = re.sub(r"\s*\n\s+", " ", result.out)
    for words in ("The workers cannot keep up with the training.",
                  "every 7 batches, as many as workers", "low: 98 batches, nothing lost; the host's",
                  "1. Use more workers, 12 in all: about 1.36x", "num_workers=12",
                  "No     prefetch_factor 1.0", "dlprof-report -v " + path):
        t.check(words in flat, "missing:", words, result.out)


def check_whole(folder):
    """-v prints the screen, and then everything else."""
    path = rundb.lockstep(os.path.join(folder, "whole.db"))
    screen, whole = report(path, **UTF8).out, report("-v", path, **UTF8).out
    t.equal(whole[:len(screen)], screen, "the screen comes first")
    check_width(whole, 80, "-v")
    strip = [line for line in whole.splitlines() if line.startswith("  |")]
    cells = "".join(line.strip().strip("|") for line in strip)
    t.equal(len(cells), 98, "one cell a batch")
    flat = re.sub(r"\s+", " ", whole)
    for words in ("7 workers, prefetch_factor 2, in order", "decode not observed counted as other",
                  "the host's clock: what the main process waited, an upper bound for the GPU",
                  "Sure low: 98 batches", "Readiness for 100 %",
                  "stalls every 7 batches, as many as workers",
                  "prefetch_factor x 4: the workers are never idle", "twice the workers"):
        t.check(words in flat, "missing:", words, whole)
    t.check("no number is enough" not in flat, "more workers would contradict it", whole)


def check_forms(folder):
    path = rundb.lockstep(os.path.join(folder, "forms.db"), meta={"command": NASTY},
                          notes=["odd \x1b]0;x\x07 note " + "w" * 200])
    for width in (40, 60, 80, 100):
        check_width(report(path, COLUMNS=width, **UTF8).out, width, "COLUMNS")
        check_width(report("-v", path, COLUMNS=width, **UTF8).out, width, "-v, COLUMNS")
        check_width(report("batches", path, COLUMNS=width).out, 80, "batches")
    for what, result in (("--ascii", report("-v", "--ascii", path, **UTF8)),
                         ("LC_ALL=C", report("-v", path, LC_ALL="C"))):
        t.check(result.out.isascii(), what, "is not ASCII")
        t.check("|#......#" in result.out and "  # not ready" in result.out, what, "strip and bar")
    plain = report("-v", path, **UTF8).out
    t.check("\x1b" not in plain, "no escape in a pipe, even from the command line of the run")
    t.equal(re.findall(t.HARMFUL, plain), [], "no override of the direction of text")
    t.check("gr\u00fc\u00df" in plain, "UTF-8 is shown")
    colored = report("-v", "--color", "always", path, **UTF8).out
    t.equal(re.sub("\x1b\\[[0-9;]*m", "", colored), plain, "colours are all that differs")
    t.check("\x1b[1;31m" in colored, "colour")
    t.equal(report("-v", path, LC_ALL="C.UTF-8", LC_NUMERIC="de_DE.UTF-8").out, plain, "locale")


def check_interval(folder):
    """The interval of the stall has what the waits for each of the thread's other loaders spread."""
    for spread_ms, loaders in ((9, 2), (27, 2), (27, 3)):
        chance, now = random.Random(1), rundb.START_NS
        batches = [[] for _ in range(loaders)]
        for epoch in range(6):
            for number, rows in enumerate(batches):
                for i in range(20 if number else 60):
                    wait = (30 + spread_ms * chance.choice((-1, 1)) if number else 40) * MS
                    rows.append({"epoch": epoch, "task": i, "batch": i, "begin_ns": now, "wait_ns": wait,
                                 "compute_ns": 50 * MS, "step_ns": wait + 50 * MS, "head_ready": 0,
                                 "worker_id": i % 2, "load_ns": 100 * MS})
                    now += wait + 50 * MS
        path = rundb.build(os.path.join(folder, "spread.db"),
                           [rundb.loader(rows, workers=2) for rows in batches])
        stall = json.loads(t.report("--json", path).out)["stall"]
        # 18 steady batches in each of 6 epochs, each of which waits so much more or less than the mean.
        error_s = math.sqrt((loaders - 1) * 108) * spread_ms / 1e3
        step_s = stall["time_s"] - stall["wait_s"]
        expected = 1.96 * error_s * step_s / stall["time_s"] ** 2
        low, high = stall["ci95"]
        t.check(abs((high - low) / 2 / expected - 1) < 0.25, "interval", spread_ms, loaders, low, high, expected)


def check_terminal(folder):
    path = rundb.lockstep(os.path.join(folder, "terminal.db"))
    t.check("\x1b[" in t.on_terminal([t.REPORT, path], TERM="xterm", NO_COLOR=None), "colour on a terminal")
    t.check("\x1b[" in t.on_terminal([t.REPORT, path], TERM="xterm", NO_COLOR=""), "an empty NO_COLOR is none")
    for changes in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb", "NO_COLOR": None},
                    {"TERM": None, "NO_COLOR": None}):
        t.check("\x1b" not in t.on_terminal([t.REPORT, path], **changes), "no colour with", changes)
    t.check("\x1b" not in t.on_terminal([t.REPORT, "--color=never", path], TERM="xterm"), "--color=never")


def check_json(folder):
    path = rundb.lockstep(os.path.join(folder, "json.db"), meta={"command": NASTY})
    database = rundb.sqlite3.connect(path)
    database.execute("UPDATE t_meta SET value = CAST(x'61ff62' AS TEXT) WHERE key = 'host'")
    database.commit()
    database.close()
    result = report("--json", path)
    found = strict_json(result.out)
    for place, keys in KEYS.items():
        within = found[place] if place else found
        for key in keys.split():
            t.check(key in within, "JSON lacks", place, key)
    t.equal(found["schema"], "dlprof.report/3")
    t.equal(found["verdict"], "highly_input_bound")
    t.equal(found["run"]["command"], NASTY)
    for form in (["--json"], ["batches", "--json"], ["trace"]):
        t.equal(re.findall(t.HARMFUL, report(*form, path).out), [], form, "is not escaped")
    t.equal(found["run"]["host"], "a\ufffdb", "invalid UTF-8")
    for stop, killed in ((None, 2), ("300", None)):
        path = rundb.lockstep(os.path.join(folder, "ends.db"), meta={"stop_after": stop} if stop else {})
        with rundb.sqlite3.connect(path) as database:
            for worker in range(2):
                rundb.insert(database, "t_process", {"pid": 50 + worker, "start_ticks": 2, "role": "worker", "worker_id": worker,
                                                     "loader_id": 1, "exit": "gone", "exit_status": 9})
        t.equal(strict_json(report("--json", path).out)["run"]["end"]["killed_workers"], killed, "stopped after", stop)
    t.equal(found["run"]["start"], "2025-12-17T19:33:20Z")
    t.equal((found["starved"], found["cause"], found["slow_worker"]),
            (True, "loader_capacity", None))
    t.equal((found["period"]["batches"], found["period"]["modulated"]), (7, False))
    t.check(found["period"]["p"] < 0.01 and found["period"]["share"] > 0.9, found["period"])
    low, high = found["stall"]["ci95"]
    t.check(low <= found["stall"]["ratio"] <= high, "interval", found["stall"])
    gains = {row["id"]: row["gain"] for row in found["whatif"]}
    t.check(0.35 < gains["workers_x2"] < 1.1 and abs(gains["prefetch_x4"]) < 0.05, gains)
    rows = {row["id"]: row for row in found["whatif"]}
    for row in rows.values():
        t.check(row["ci95"][0] <= row["batches_per_s"] * 1.001
                and row["batches_per_s"] * 0.999 <= row["ci95"][1], row)
    asked = json.loads(report("--json", "--what-if", "workers=14", "--what-if",
                              "in_order=false,load=0", path).out)["whatif"]
    t.equal([row["id"] for row in asked[-2:]], ["workers=14", "in_order=false,load=0"])
    t.equal(asked[-2]["batches_per_s"], rows["workers_x2"]["batches_per_s"], "14 is twice 7")
    t.check(asked[-1]["batches_per_s"] > 0.97 * rows["synthetic"]["batches_per_s"], asked[-1])
    t.equal(found["advice"][0]["id"], "more_loader_capacity")
    t.check("prefetch_x4" in [row["id"] for row in found["not_useful"]], found["not_useful"])
    t.equal(found["breakdown"]["decode_s"], None, "not observed is null, never 0")
    t.equal(found["coverage"]["patch_points_missing"], [])
    t.equal(found["coverage"]["decode_observed"], False)
    t.equal(len(found["ranks"]), 1)
    ratio = found["stall"]["wait_s"] / found["stall"]["time_s"]
    t.check(abs(ratio - found["stall"]["ratio"]) < 1e-6, "ratio = wait / time")
    sums = t.rows(path, "SELECT SUM(read_ns) AS reads, SUM(collate_ns) AS collates FROM load")[0]
    t.check(abs(found["breakdown"]["read_s"] * 1e9 - sums["reads"]) < 1, "sum of reads")
    t.check(abs(found["breakdown"]["collate_s"] * 1e9 - sums["collates"]) < 1, "sum of collates")


def check_rows(folder):
    """The rows of `batches` agree with the database's views, which are documented."""
    batches = rundb.simulate(60, 3, 40, 10, epochs=2)
    del batches[70]  # a lost record
    batches[5].update(compute_ns=None, step_ns=None, worker_id=None)
    batches[-1].update(compute_ns=None, step_ns=None, load_ns=None, head_ready=None, read_ns=None,
                       read_bytes=None)
    path = rundb.build(os.path.join(folder, "rows.db"), [rundb.loader(batches, workers=3)],
                       theta=2 * rundb.MS)
    result = report("batches", "--csv", path)
    t.equal((result.status, result.err), (0, ""))
    rows = list(csv.DictReader(io.StringIO(result.out)))
    views = t.rows(path, "SELECT b.*, l.read_ns, l.other_ns, l.read_bytes FROM batch b LEFT JOIN "
                         "load l USING (loader_id, epoch, batch) ORDER BY b.epoch, b.batch")
    t.equal(len(rows), len(views), "rows")

    def seconds(ns):
        return "" if ns is None else "{}.{:09d}".format(ns // 10**9, ns % 10**9)

    def text(value):
        return "" if value is None else str(value)

    for row, view in zip(rows, views):
        where = (view["epoch"], view["batch"])
        for name in ("wait", "receive", "compute", "step", "load", "ready", "hol", "read", "other"):
            t.equal(row[name + "_s"], seconds(view[name + "_ns"]), where, name)
        t.equal(row["begin_s"], seconds(view["begin_ns"] - rundb.START_NS), where, "begin")
        for name in ("epoch", "batch", "head_ready", "qdepth", "read_bytes", "excluded"):
            t.equal(row[name], text(view[name]), where, name)
        t.equal(row["worker"], text(view["worker_id"]), where, "worker")
        if view["excluded"] != "no_step":  # the view gives no state for its wait
            t.equal(row["starved"], text(view["starved"]), where, "starved")
    t.check({"1", "0", ""} == {row["starved"] for row in rows}, "all of starved occur")
    t.check({"epoch_start", "no_step", ""} == {row["excluded"] for row in rows}, "all of excluded")

    listed = strict_json(report("batches", "--json", path).out)["batches"]
    t.equal(len(listed), len(rows), "JSON rows")
    t.equal(listed[0]["excluded"], "epoch_start")
    t.equal(listed[5]["compute_s"], None)
    for arguments, expected in ((["--epoch", "1"], 59), (["--batches", "10:19"], 10),
                                (["--batches", "110:"], 9), (["--batches", ":0"], 1),
                                (["--epoch", "1", "--batches", "50:99"], 9),
                                (["--loader", "1"], 119)):
        rows = report("batches", "--csv", path, *arguments).out.splitlines()[1:]
        t.equal(len(rows), expected, arguments)
    # Batches that are delivered in another order than they were asked for.
    batches = rundb.simulate(60, 3, 40, 10)
    for batch in batches:
        batch["task"] = 59 - batch["batch"]
    path = rundb.build(os.path.join(folder, "order.db"),
                       [rundb.loader(batches, workers=3, in_order=0)])
    for arguments, expected in (([], list(range(60))), (["--batches", "10"], [10])):
        lines = report("batches", "--csv", path, *arguments).out.splitlines()[1:]
        t.equal([int(line.split(",")[2]) for line in lines], expected, "the order of delivery")


def check_loaders(folder):
    """The report judges the loader with the most time, or the one that --loader names."""
    slow = rundb.simulate(300, 4, 100, 10)
    quick = rundb.simulate(60, 2, 1, 10)
    path = rundb.build(os.path.join(folder, "loaders.db"), [
        rundb.loader(quick, workers=2), rundb.loader(slow, workers=4)])
    result = report(path)
    t.check("HIGHLY" in result.out, "the loader with most time is judged")
    t.check("Which loader 2 of 2 (torch.DataLoader): its waits are" in " ".join(result.out.split()),
            "whose cause it is", result.out)
    one = rundb.build(os.path.join(folder, "one.db"), [rundb.loader(slow, workers=4)])
    t.check("Which" not in report(one).out, "of one loader")
    t.check("loader 1: torch.DataLoader" in report("-v", path).out, "others", result.out)
    found = strict_json(report("--json", "--loader", "1", path).out)
    t.equal((found["verdict"], found["stall"]["batches"]), ("not_input_bound", 60))
    t.equal(report("--loader", "7", path).status, 2)
    part = strict_json(report("--json", "--batches", "0:99", path).out)
    t.equal(part["stall"]["batches"], 100)
    t.check("batches 0 to 99 of loader 2" in report("--batches", "0:99", path).out, "Only")
    none = report("--epoch", "9", path)
    t.equal((none.status, none.out), (2, ""), "no such epoch")
    t.check("no epoch 9" in none.err, none.err)
    t.equal(report("--rank", "0", path).status, 0)
    t.equal(report("--rank", "1", path).status, 2)


def check_verdicts(folder):
    def verdict(name, loaders, **keywords):
        path = rundb.build(os.path.join(folder, name + ".db"), loaders, **keywords)
        return report("-v", path).out, strict_json(report("--json", path).out)

    text, found = verdict("healthy", [rundb.loader(rundb.simulate(400, 4, 20, 10), workers=4)])
    t.check("NOT INPUT-BOUND" in text and "With ideal" not in text, text)
    t.equal((found["verdict"], found["cause"], found["confidence"]),
            ("not_input_bound", "none", "high"))

    text, found = verdict("single", [rundb.loader(rundb.simulate(60, 0, 20, 10), workers=0)])
    t.check("The loader has no workers" in text, text)
    t.equal((found["verdict"], found["cause"]), ("highly_input_bound", "single_process"))
    t.check("hand-over" not in text, "there is no transfer without workers")

    batches = rundb.simulate(60, 4, 20, 10, epochs=4)
    text, found = verdict("starts", [rundb.loader(batches, workers=4)])
    t.equal((found["verdict"], found["cause"]), ("moderately_input_bound", "epoch_start"))
    t.check("Starting and ending epochs takes the time" in text, text)

    text, found = verdict("few", [rundb.loader(rundb.simulate(20, 4, 200, 10), workers=4)])
    t.check("INCOMPLETE" in text and "few_batches" or text, text)
    for arguments in ([], ["--json"]):
        t.equal(report(*arguments, os.path.join(folder, "few.db")).status, 3, "too few to say")
    t.equal((found["verdict"], found["incomplete_reason"], found["starved"]),
            ("incomplete", "few_batches", None))

    text, found = verdict("lost", [rundb.loader(rundb.simulate(400, 4, 20, 10), workers=4)],
                          losses=[60, 40])
    t.equal((found["verdict"], found["incomplete_reason"], found["loss"]["events"]),
            ("incomplete", "events_lost", 100))

    batches = [dict(batch, compute_ns=None, step_ns=None)
               for batch in rundb.simulate(100, 4, 20, 10)]
    text, found = verdict("steps", [rundb.loader(batches, workers=4)])
    t.equal((found["incomplete_reason"], found["stall"]["ratio"], found["stall"]["wait_s"]),
            ("compute_not_observed", None, None))
    t.check("Steps      not observed" in text, text)

    batches = rundb.simulate(100, 4, 200, 10)
    batches[50]["wait_ns"] = -5
    batches[60]["compute_ns"] = -2**63
    text, found = verdict("negative", [rundb.loader(batches, workers=4)])
    t.equal(found["stall"]["steady_batches"], 94, "a time below 0 is no time")

    batches = [{"epoch": 0, "task": i, "batch": i} for i in range(50)]
    text, found = verdict("bare", [rundb.loader(batches, kind=None)])
    t.equal(found["incomplete_reason"], "wait_not_observed")
    text, found = verdict("missing", [rundb.loader(rundb.simulate(400, 4, 20, 10), workers=4)],
                          meta={"patch_missing": "torch.a,torch.b"}, notes=["one", "two"])
    t.equal(found["coverage"]["patch_points_missing"], ["torch.a", "torch.b"])
    t.equal(found["coverage"]["warnings"], ["one", "two"])
    t.check("torch.a, torch.b" in text and "Warning    one" in text, text)
    hidden = ["libjpeg in a.so", "libtiff in a.so", "odd"] + ["libjpeg in b{}.so".format(i)
                                                             for i in range(5)]
    text, found = verdict("hidden", [rundb.loader(rundb.simulate(400, 4, 20, 10), workers=4)],
                          meta={"decoders_hidden": ",".join(hidden)})
    t.equal(found["coverage"]["decoders_hidden"], hidden)
    t.check("libjpeg in a.so, b0.so, b1.so, b2.so and 2 more; libtiff in a.so; odd: their" in
            " ".join(text.split()), text)
    for name, meta, words in (
            ("undecoded", {}, "the dataset's own code"),
            ("unseen", {"decoders_hidden": "libjpeg in a.so"}, "and decoders that cannot be timed")):
        batches = [dict(batch, decode_ns=0, decode_count=0) for batch in rundb.simulate(400, 4, 20, 10)]
        text, found = verdict(name, [rundb.loader(batches, workers=4)], meta=meta)
        t.equal(found["breakdown"]["decode_s"], 0, name)
        for part in ("no decoder whose calls can be timed was called", words):
            t.check(part in " ".join(text.split()), name, "misses:", part, text)
        t.equal("decoders that cannot be timed" in " ".join(text.split()), bool(meta), text)
    verdict("crowded", [rundb.loader(rundb.simulate(400, 4, 20, 10), workers=4)],
            meta={"decoders_hidden": ",".join("lib{} in a.so".format(i) for i in range(60000))})


def check_decoders(folder):
    """Each decoder has its own count, time, pixels and bytes."""
    path = rundb.build(os.path.join(folder, "decoders.db"),
                       [rundb.loader(rundb.simulate(98, 7, 200, 10), workers=7)])
    with rundb.sqlite3.connect(path) as database:
        for name, detail, count, seconds in (("libjpeg", "JPEG", 30, 3), ("libpng", "PNG", 20, 1)):
            pages.add_total(database, "decode", name, detail, 512, seconds * 10**9)
            database.execute("UPDATE t_total SET count = ? WHERE name = ?", (count, name))
    text = re.sub(r"\s+", " ", report("-v", path).out)
    for row in ("JPEG, libjpeg 15 % 3.00 s 30 100 ms decode", "PNG, libpng 5.1 % 1.00 s 20 50.0 ms decode",
                "JPEG, libjpeg to 512 px 30 100 ms 33 Mpixel/s 333 kB 3.00 s",
                "PNG, libpng to 512 px 20 50.0 ms 100 Mpixel/s 500 kB 1.00 s"):
        t.check(row in text, "no row", row, text)


def check_help():
    for arguments in (["--help"], ["batches", "-h"]):
        result = report(*arguments)
        t.equal((result.status, result.err), (0, ""), arguments)
        check_width("\n".join(line.rstrip() for line in result.out.splitlines()), 80, "--help")
    t.check(re.fullmatch(r"dlprof-report \d+\.\d+\.\d+\n", report("--version").out), "--version")


def main():
    folder = t.scratch()
    check_lockstep(folder)
    check_whole(folder)
    check_forms(folder)
    check_interval(folder)
    check_terminal(folder)
    check_json(folder)
    check_rows(folder)
    check_loaders(folder)
    check_verdicts(folder)
    check_decoders(folder)
    check_help()
    t.finish()


main()
