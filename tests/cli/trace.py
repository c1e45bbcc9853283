# SPDX-License-Identifier: Apache-2.0
"""The output of `trace`, `export` and `top` is whole, agrees with the database, and takes little memory."""
import csv
import json
import os
import pty
import random
import re
import select
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import rundb

MS = rundb.MS
LARGE = int(float(os.environ.get("TEST_BATCHES", "2e5")))  # batches; memory must not depend on their number
FEW = 2000
MOST_KB = 2000  # memory more than for a quarter of them; with 16 bytes a row it would be 2400 KiB at least


def trace(*arguments):
    done = t.report("trace", *arguments)
    t.equal(done.status, 0, arguments, done.err)
    t.equal(re.findall(t.HARMFUL, done.out), [], arguments, "is not escaped")
    return json.loads(done.out)["traceEvents"]


def check_invariants(name, events):
    """Checks that slices have lengths and lie on named lanes, in the order of time, nested or apart."""
    named, open_ends, last = set(), {}, {}
    for event in events:
        lane = (event["pid"], event.get("tid"))
        t.check(event["ph"] in "XMCi" and event["name"], name, "event", event)
        if event["ph"] == "M":
            named.add(lane)
            continue
        t.check(event["ph"] == "C" or lane in named, name, "a lane without a name", event)
        if event["ph"] != "X":
            continue
        # The microseconds have three decimals: these are nanoseconds as integers.
        begin, length = round(event["ts"] * 1000), round(event["dur"] * 1000)
        t.check(length >= 0, name, "negative length", event)
        t.check(begin >= last.get(lane, begin), name, "goes back in time", event)
        last[lane] = begin
        ends = open_ends.setdefault(lane, [])
        while ends and ends[-1] <= begin:
            ends.pop()
        t.check(not ends or begin + length <= ends[-1], name, "overlaps", event, ends)
        ends.append(begin + length)


def slices(events, name):
    return [e for e in events if e["ph"] == "X" and e["name"].split(" (")[0] == name]


def check_against(name, events, run):
    """Each wait, compute and load in the database is a slice with its begin and length."""
    base = rundb.START_NS
    rows = t.rows(run, "SELECT * FROM t_batch WHERE batch IS NOT NULL")
    for what, begin, length in (("wait", "begin_ns", "wait_ns"), ("load", "load_begin_ns", "load_ns")):
        found = sorted((round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in slices(events, what))
        t.equal(found, sorted((r[begin] - base, r[length]) for r in rows), name, what)
    computed = sorted(round(e["dur"] * 1000) for e in slices(events, "compute"))
    t.equal(computed, sorted(r["compute_ns"] for r in rows), name, "compute")
    t.equal(len(slices(events, "receive")), len([r for r in rows if r["receive_ns"]]), name)
    counters = [e["args"]["value"] for e in events if e["ph"] == "C"]
    t.equal(counters, [r["qdepth"] for r in rows if r["qdepth"] is not None], name, "queue")


def lane_names(events):
    return {e["args"]["name"] for e in events if e["ph"] == "M" and "name" in e["args"]}


# Ranges that are nested, side by side, overlapping (started, not pushed), and of another thread.
RANGES = [(0, 100 * MS, 42, "epoch"), (1, 10 * MS - 1, 42, "step 1"), (1 * MS + 1, 2 * MS - 1, 42, "data"),
          (3 * MS, 7 * MS, 42, "train"), (10 * MS, 90 * MS, 42, "step 2"),
          (95 * MS, 10 * MS, 42, "late"), (2 * MS, 3 * MS, 43, "other"), (6 * MS, 0, 42, "short"),
          (-5, 2, 1 << 40, "of no thread")]


def check_ranges(events):
    """The trace has all ranges with their times; each level of a thread has its own lane."""
    found = {e["name"]: e for e in events if e["ph"] == "X" and e["name"] in {r[3] for r in RANGES}}
    t.equal({name: (round(e["ts"] * 1000), round(e["dur"] * 1000)) for name, e in found.items()},
            {text: (begin, length) for begin, length, _, text in RANGES}, "ranges")
    lanes = {name: e["tid"] for name, e in found.items()}
    t.check(lanes["data"] == lanes["train"] and lanes["step 1"] == lanes["step 2"], "levels", lanes)
    t.check(len({lanes[n] for n in ("epoch", "step 1", "data", "other")}) == 4, "lanes", lanes)
    t.check({"ranges of thread 42 (process 42)", "ranges of thread 43 (process 42)"}
            <= lane_names(events), "lanes of ranges", lane_names(events))


def check_nested(folder):
    """A slow read within a slow decode lies below that in the trace."""
    run = rundb.build(os.path.join(folder, "nested.db"),
                      [rundb.loader(rundb.simulate(60, 3, 40, 10), workers=3)])
    with sqlite3.connect(run) as database:
        for kind, begin, length in (("decode", 0, 40), ("read", 10, 20), ("read", 50, 20)):
            database.execute("INSERT INTO t_slow (ts_ns, pid, tid, class, what, ns) "
                             "VALUES (?, 100, 7, ?, 'file', ?)",
                             (rundb.START_NS + begin * MS, kind, length * MS))
    done = t.report("trace", run)
    t.equal((done.status, done.err), (0, ""), "nothing is left out")
    events = json.loads(done.out)["traceEvents"]
    check_invariants("nested", events)
    lanes = [e["tid"] for kind in ("decode", "read") for e in slices(events, kind)]
    t.check(len(lanes) == 3 and lanes[0] == lanes[2] != lanes[1], "levels", lanes)


def check_deep(folder):
    """Of slices that lie within each other 16 are shown, each in its own lane, and the others are counted."""
    run = rundb.build(os.path.join(folder, "deep.db"),
                      [rundb.loader(rundb.simulate(60, 3, 40, 10), workers=3)])
    with sqlite3.connect(run) as database:
        for level in range(18):
            database.execute("INSERT INTO t_slow (ts_ns, pid, tid, class, what, ns) "
                             "VALUES (?, 100, 7, 'read', 'file', ?)",
                             (rundb.START_NS + level * MS, (100 - 2 * level) * MS))
    done = t.report("trace", run)
    shown = slices(json.loads(done.out)["traceEvents"], "read")
    t.equal([(e["ts"], e["dur"]) for e in shown], [(1000 * i, 1000 * (100 - 2 * i)) for i in range(16)], "levels")
    t.equal(len({e["tid"] for e in shown}), 16, "lanes")
    t.check(re.search(r"\b2 ", done.err), "how many are left out", done.err)


def check_parts(folder):
    """The parts of a wait lie within the wait; freeing memory lies behind it."""
    batches = rundb.simulate(12, 2, 40, 10) + rundb.simulate(12, 0, 5, 10)
    for row in batches:
        row.update(sample_ns=MS, free_ns=2 * MS, fetch_ns=row["receive_ns"] // 2)
        row.update(before_ns=3 * MS, backward_ns=2 * MS, between_ns=0, optimizer_ns=MS,
                   save_ns=None)
        row["compute_ns"] = max(row["compute_ns"], 8 * MS)
        row["wait_ns"] = max(row["wait_ns"], 4 * MS)
    run = rundb.build(os.path.join(folder, "parts.db"),
                      [rundb.loader(batches[:12], workers=2), rundb.loader(batches[12:], workers=0)])
    events = trace(run)
    check_invariants("parts", events)
    for number, here in ((1, False), (2, True)):
        lane = [e["tid"] for e in events if e["ph"] == "M" and "name" in e["args"]
                and e["args"]["name"] == "loader {}: training".format(number)]
        own = [e for e in events if e.get("tid") in lane and e["ph"] == "X"]
        t.equal([e["name"] for e in own[:6]],
                ["wait"] + (["sample", "receive", "fetch"] if here else
                            ["receive", "fetch", "sample"]) + ["free", "compute"], "order", own)
        t.equal([(e["name"], round(e["dur"] * 1000)) for e in own[6:9]],
                [("before backward", 3 * MS), ("backward", 2 * MS), ("optimizer", MS)], "parts of a step")
        t.equal(own[6]["ts"], own[5]["ts"], "they begin where the step does")
        wait, sample = slices(own, "wait")[0], slices(own, "sample")[0]
        end = round((wait["ts"] + wait["dur"]) * 1000)
        t.equal(round(sample["ts"] * 1000), round(wait["ts"] * 1000) if here else end - MS, "sample")


def check_left_out(folder):
    """A wait that lies within the compute before it is not shown, nor are its parts."""
    batches = rundb.simulate(6, 2, 40, 10)
    batches[3].update(begin_ns=batches[2]["begin_ns"] + batches[2]["wait_ns"] + MS, wait_ns=MS,
                      receive_ns=MS // 2)
    run = rundb.build(os.path.join(folder, "left.db"), [rundb.loader(batches, workers=2)])
    events = trace(run, "-q")
    t.equal((len(slices(events, "wait")), len(slices(events, "receive"))), (5, 5), "left out", events)


def check_trace(folder):
    run = rundb.build(os.path.join(folder, "two.db"),
                      [rundb.loader(rundb.simulate(60, 3, 40, 10, epochs=2), workers=3),
                       rundb.loader(rundb.simulate(20, 0, 5, 10), workers=0)])
    with sqlite3.connect(run) as database:
        for i in range(3):
            database.execute("INSERT INTO t_slow (ts_ns, pid, tid, class, what, ns) "
                             "VALUES (?, 100, 7, 'read', 'a\"\\\n\x01', ?)",
                             (rundb.START_NS + i * 50 * MS, 20 * MS))
        database.execute("INSERT INTO t_mark VALUES (?, 42, 42, ?, NULL)",
                         (rundb.START_NS + MS, "half\u202e\x9b"))
        for begin, length, tid, text in RANGES:
            database.execute("INSERT INTO t_mark VALUES (?, 42, ?, ?, ?)",
                             (rundb.START_NS + begin, tid, text, length))
        for begin, end in ((0, 1), (3, None)):  # the last gap lasts until the end of the run
            database.execute("INSERT INTO t_gap (begin_ns, end_ns, why, pid) VALUES (?, ?, ?, 42)",
                             (rundb.START_NS + begin * MS,
                              end and rundb.START_NS + end * MS, "profiler"))
    events = trace(run)
    check_invariants("two loaders", events)
    check_against("two loaders", events, run)
    t.check({"rank 0 @ box", "loader 1: training", "loader 1: worker 2", "loader 2: training",
             "loader 2: loads", "loader 1: iterators", "GPU not recorded", "marks",
             "slow operations of thread 7 (process 100)"} <= lane_names(events),
            "lanes", lane_names(events))
    t.equal([e["name"] for e in events if e["ph"] == "i"], ["half\u202e\x9b"], "marks")
    check_ranges(events)
    gaps = slices(events, "profiler")
    t.equal(len(gaps), 2, "gaps", gaps)
    t.check(gaps[0]["dur"] == 1000 and gaps[1]["dur"] > 1000000, "lengths of gaps", gaps)
    t.equal([e["args"]["what"] for e in slices(events, "read")], ["a\"\\\n\x01"] * 3, "slow")

    part = trace(run, "--loader", "1", "--epoch", "1", "--batches", "5:9")
    check_invariants("part", part)
    t.equal([(e["args"]["epoch"], e["args"]["batch"]) for e in slices(part, "wait")],
            [(1, i) for i in range(5, 10)], "part")
    t.equal(slices(part, "read"), [], "slow operations outside the part")

    worst = trace(run, "--loader", "1", "--worst", "3")
    check_invariants("worst", worst)
    rows = t.rows(run, "SELECT epoch, batch, wait_ns FROM batch WHERE loader_id = 1 "
                  "ORDER BY wait_ns DESC LIMIT 3")
    shown = {(e["args"]["epoch"], e["args"]["batch"]) for e in slices(worst, "wait")}
    t.check({(r["epoch"], r["batch"]) for r in rows} <= shown and len(shown) <= 3 * 9, "worst", shown)


def check_ranks(folder):
    """Each rank is a process in the trace, at its time by the wall clock."""
    folder = os.path.join(folder, "job")
    os.makedirs(folder)
    starts, late = (5 * MS, 0, 2000 * MS), [1, 90, 1]
    files = [rundb.rank(os.path.join(folder, "r{}.db".format(rank)), rank, late, steps=20,
                        start=starts[rank]) for rank in range(3)]
    for arguments in ([folder], [files[2], files[0], files[1]]):
        events = trace(*arguments)
        check_invariants("ranks", events)
        for rank in range(3):
            own = [e for e in events if e["pid"] == rank]
            rows = t.rows(files[rank], "SELECT begin_ns, wait_ns FROM t_batch")
            t.equal(sorted((round(e["ts"] * 1000), round(e["dur"] * 1000))
                           for e in slices(own, "wait")),
                    sorted((row["begin_ns"] - rundb.START_NS + starts[rank], row["wait_ns"])
                           for row in rows), arguments, "waits of rank", rank)
            t.check({"rank {} @ node{}".format(rank, rank // 2), "loader 1: training"} <=
                    lane_names(own), "lanes of rank", rank, lane_names(own))
    t.equal({e["pid"] for e in trace("--rank", "2", folder)}, {2}, "--rank")
    t.equal({len(slices([e for e in trace("--batches", "3:7", folder) if e["pid"] == rank], "wait"))
             for rank in range(3)}, {5}, "a part of each")
    # A rank without a wall clock begins at the trace's begin, and a note says so.
    rundb.rank(files[0], 0, late, steps=20, start_unix_ns=None)
    done = t.report("trace", folder)
    t.equal((done.status, done.err.count("began")), (0, 1), done.err)
    t.check("the start of '{}' is not known".format(files[0]) in done.err, done.err)
    waits = slices([e for e in json.loads(done.out)["traceEvents"] if e["pid"] == 0], "wait")
    t.equal(waits[0]["ts"], 0, "the first of them")
    for arguments, words in ((["--rank", "7", folder], "no rank 7 is among the 3 of"),
                             (["-f", "-o", files[1], folder], "will not write over the run itself"),
                             ([os.path.join(folder, "none.db")], "cannot open"),
                             ([t.scratch()], "holds no run of dlprof")):
        done = t.report("trace", *arguments)
        t.equal((done.status, done.out, done.err.count("\n")), (2, "", 1), arguments, done.err)
        t.check(words in done.err, arguments, done.err)


def check_damaged(folder):
    """Times in the database that contradict each other do not make the trace invalid."""
    chance = random.Random(5)
    edge = [-1, 0, None, 1, MS, 2**63 - 1, -2**63, rundb.START_NS]
    for seed in range(8):
        batches = rundb.simulate(40, 2, 20, 10, seed=seed)
        for _ in range(60):
            chance.choice(batches)[chance.choice(["begin_ns", "wait_ns", "load_begin_ns", "load_ns",
                                                  "compute_ns", "receive_ns", "worker_id",
                                                  "qdepth"])] = chance.choice(edge)
        run = rundb.build(os.path.join(folder, "damaged.db"), [rundb.loader(batches, workers=2)])
        check_invariants("damaged {}".format(seed), trace(run, "-q"))
        os.unlink(run)


def large(folder, name, count):
    """Makes a run of many batches, by a statement of SQLite: two workers, a batch each millisecond."""
    run = rundb.build(os.path.join(folder, name), [rundb.loader([], workers=2)])
    with sqlite3.connect(run) as database:
        database.execute(
            "WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n + 1 < {0})"
            "INSERT INTO t_batch (loader_id, epoch, task, batch, begin_ns, wait_ns, compute_ns,"
            " step_ns, worker_id, load_begin_ns, load_ns, qdepth, head_ready)"
            " SELECT 1, 0, n, n, {1} + n * 1000000, 300000, 700000, 1000000, n % 2,"
            " {1} + n * 1000000 - 1500000, 1700000, 1, 0 FROM i".format(count, rundb.START_NS))
    return run


def memory_kb(*arguments):
    """Returns the most memory that dlprof-report had, in KiB, without that of the process it was forked from."""
    process = subprocess.Popen([t.REPORT] + list(arguments), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=t.environment(preload=False))
    most = 0
    while process.poll() is None:
        try:
            with open("/proc/{}/status".format(process.pid)) as file:
                lines = dict(line.split(":", 1) for line in file)
            if lines["Name"].strip() == "dlprof-report":
                most = max(most, int(lines.get("VmHWM", "0 kB").split()[0]))
        except (OSError, ValueError):
            pass
        time.sleep(0.002)
    t.equal(process.returncode, 0, arguments)
    return most


def check_memory(folder):
    small, run = (large(folder, str(count), count) for count in (LARGE // 4, LARGE))
    for arguments in (["trace"], ["trace", "--worst", "20"], ["export", "--view", "batch"]):
        less, memory = memory_kb(*arguments, small), memory_kb(*arguments, run)
        t.say(*arguments, "of {} batches: {} kB, of a quarter {}".format(LARGE, memory, less))
        t.check(0 < memory < less + MOST_KB, arguments, "takes", memory, "kB, of fewer", less)
    begun = time.monotonic()
    t.equal(t.report("top", run).status, 0, "top")
    t.say("top of as many: {:.3f} s".format(time.monotonic() - begun))
    os.unlink(run)


def check_export(folder):
    run = rundb.lockstep(os.path.join(folder, "lock.db"), notes=["a \"b\", c\nd"])
    views = os.path.join(folder, "views")
    t.equal(t.report("export", run, "-o", views).status, 0, "export")
    again = t.report("export", run, "-o", views)
    t.check(again.status == 2 and "-f replaces it" in again.err, "again", again.err)
    t.equal(t.report("export", run, "-f", "-o", views).status, 0, "export -f")
    names = [r["name"] for r in t.rows(run, "SELECT name FROM sqlite_schema WHERE type = 'view' "
                                       "AND name NOT GLOB 't_*'")]
    t.equal(sorted(os.listdir(views)), sorted(name + ".csv" for name in names), "files")
    for name in names:
        rows = t.rows(run, "SELECT * FROM " + name)
        with open(os.path.join(views, name + ".csv"), newline="") as file:
            cells = list(csv.DictReader(file))
        t.equal(len(cells), len(rows), name)
        for cell, row in zip(cells, rows):
            for key, value in row.items():
                time_column = key == "ns" or key.endswith("_ns")
                text = cell[key[:-2] + "s" if time_column else key]
                expected = "" if value is None else str(value)
                if time_column and value is not None:
                    text, expected = round(float(text) * 1e9, -3), round(value, -3)
                t.equal(text, expected, name, key)
    # An exported table can be imported, and is judged as the run.
    table, back = os.path.join(views, "batch.csv"), os.path.join(folder, "back.db")
    done = t.report("import", table, "-o", back, "-q", "--meta", "workers=7", "--meta",
                    "prefetch_factor=2", "--meta", "in_order=true", "--meta", "cores=8")
    t.equal(done.status, 0, done.err)
    before, after = (json.loads(t.report("--json", path).out) for path in (run, back))
    # A table has which batches were ready, but not when others were, and no times of making iterators.
    for found in before, after:
        for key in ("not_ready", "receiving", "startup_s"):
            found["stall"].pop(key)
        found["stall"] = {key: isinstance(value, float) and round(value, 6) or value
                          for key, value in found["stall"].items() if key != "ci95"}
    for key in ("verdict", "cause", "stall", "period"):
        t.equal(after[key], before[key], "after export and import:", key)
    one = t.report("export", run, "--view", "none")
    t.check(one.status == 2 and "no view 'none'" in one.err, "no such view", one.err)
    t.check(t.report("export", run).status == 2, "without a folder")


def check_top(folder):
    run = rundb.lockstep(os.path.join(folder, "over.db"))
    once = t.report("top", run)
    t.equal((once.status, once.err), (0, ""), "top of a run that is over")
    t.equal(once.out, t.report(run).out, "it is the report's screen")
    t.check("\033" not in once.out, "controls without a terminal")
    done = t.report("top", "--json", run)
    t.equal((done.status, done.out), (2, ""), "top --json")
    t.check("it goes with: dlprof-report, " in done.err, done.err)
    empty = rundb.build(os.path.join(folder, "empty.db"))
    t.equal(t.report("top", empty).status, 3, "without a batch")


def read_terminal(terminal, seconds):
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                text += os.read(terminal, 65536)
            except OSError:
                break
    return text.decode(errors="replace")


def start_top(run):
    terminal, inner = pty.openpty()
    top = subprocess.Popen([t.REPORT, "top", "--interval", "0.1", run], stdin=inner, stdout=inner,
                           stderr=inner, env=t.environment(preload=False, TERM="xterm"))
    os.close(inner)
    return top, terminal


def check_live(folder):
    """While a real run records, top's pictures change, top ends by itself, and the run loses nothing."""
    run = os.path.join(folder, "live.db")
    demo = subprocess.Popen([t.DLPROF, "demo", "slow_worker", "-q", "--json", "-o", run],
                            env=t.environment(preload=False), stdout=subprocess.DEVNULL)
    while not os.path.exists(run + "-segments") and demo.poll() is None:
        time.sleep(0.01)
    top, terminal = start_top(run)
    text = read_terminal(terminal, 60)
    t.equal((top.wait(), demo.wait()), (0, 0), "status", text[-300:])
    os.close(terminal)
    frames = text.split("\033[H\033[J")
    seen = {line for frame in frames for line in frame.splitlines() if "still recording" in line}
    t.say(len(frames), "frames,", len(seen), "different")
    t.check(len(seen) >= 2, "frames", seen)
    t.check("INPUT-BOUND" in frames[-1] and "still recording" not in frames[-1], "the last frame",
            frames[-1])
    t.wait_for_drain(run)
    t.equal(t.rows(run, "SELECT COUNT(*) AS n FROM batch")[0]["n"], 160, "batches")
    t.equal([name for name in os.listdir(folder) if name.startswith("live.db")], ["live.db"],
            "left behind")


def check_never_blocks(folder):
    """top never holds a lock when a writer wants to write, even while it is stopped."""
    run = large(folder, "written.db", FEW)
    database = sqlite3.connect(run, isolation_level=None, timeout=0)
    database.execute("PRAGMA journal_mode = WAL")
    chance, commits, stops = random.Random(3), 0, 0
    end = time.monotonic() + 30
    while stops < 10 and time.monotonic() < end:
        top = subprocess.Popen([t.REPORT, "top", run], stdout=subprocess.DEVNULL,
                               env=t.environment(preload=False))
        time.sleep(chance.uniform(0, 0.02))
        top.send_signal(signal.SIGSTOP)
        stops += top.poll() is None
        for _ in range(5):
            try:
                database.execute("BEGIN IMMEDIATE")
                database.execute("UPDATE t_batch SET wait_ns = wait_ns + 1 WHERE task % 100 = 7")
                database.execute("COMMIT")
                commits += 1
            except sqlite3.OperationalError as error:
                t.check(False, "a commit was refused:", error)
        top.send_signal(signal.SIGCONT)
        t.equal(top.wait(), 0, "top")
    t.say(commits, "commits,", stops, "while top was stopped in its work")
    t.check(stops and commits, "top was never stopped in its work")
    database.close()


def main():
    t.need_shim()
    folder = t.scratch()
    check_nested(folder)
    check_deep(folder)
    check_parts(folder)
    check_left_out(folder)
    check_trace(folder)
    check_ranks(folder)
    check_damaged(folder)
    check_memory(folder)
    check_export(folder)
    check_top(folder)
    check_live(folder)
    check_never_blocks(folder)
    t.finish()


main()
