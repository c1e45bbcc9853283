# SPDX-License-Identifier: Apache-2.0
"""`export --into` and `--csv` write for many jobs the numbers that `fold` gives for each, from runs or
partials; and exporters that are killed, repeated or at work together leave only whole jobs.
"""
import csv
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlprof_test as t
import rundb

ODD = "a\tb\\c\nd'e\r\"\x0b\u00fc"
TABLES = ("job", "rank", "step", "batch")


def export(*arguments, **keywords):
    return t.report("export", *arguments, **keywords)


def make(folder, late, job, attempt=0, **meta):
    """Makes a job; returns its folder, and partials of each two of its ranks."""
    path = rundb.job(os.path.join(folder, "{}-{}".format(job, attempt)), late, job_id=job,
                     attempt=str(attempt), world_size="8", **meta)
    out, parts = t.scratch(), []
    for first in range(0, len(late), 2):
        parts.append(os.path.join(out, "{}.part".format(first)))
        runs = [os.path.join(path, "r{}.db".format(rank)) for rank in range(first, first + 2)]
        t.equal(t.report("fold", *runs, "-o", parts[-1]).status, 0)
    return path, parts


def into(path, *arguments):
    done = export("--into", path, *arguments)
    t.equal((done.status, done.out, done.err), (0, "", ""), arguments)
    return content(path)


def content(path):
    with sqlite3.connect(path) as database:
        t.equal(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)], path)
        return {table: database.execute("SELECT * FROM " + table).fetchall() for table in TABLES}


def dictionaries(path, table):
    with sqlite3.connect(path) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute("SELECT * FROM " + table)]


def check_numbers(folder, path):
    """All numbers that the export and `fold` have in common are equal."""
    fleet = os.path.join(t.scratch(), "fleet.db")
    into(fleet, path)
    found = json.loads(t.report("fold", "--json", path).out)
    row, = dictionaries(fleet, "job")
    stall = found["stall"]
    for name, wanted in (
            ("job_id", found["run"]["job_id"]), ("attempt", found["run"]["attempt"]),
            ("ranks_seen", found["run"]["ranks"]), ("world_size", found["run"]["world_size"]),
            ("verdict", found["verdict"]), ("starved", found["starved"]),
            ("culprit", found["job"]["culprit"]), ("at_most", stall["at_most"]),
            ("name", "train.py"), ("gpus", None),
            ("batches", sum(rank["batches"] for rank in found["ranks"]))):
        t.equal(row[name], wanted, name)
    for name, wanted in (("stall_ratio", stall["ratio"]), ("wait_s", stall["wait_s"]),
                         ("time_s", stall["time_s"]), ("blame_share", found["job"]["blame_share"]),
                         ("gain_max", 1 / (1 - stall["ratio"])), ("started_unix_s", 1766000000)):
        t.check(abs(row[name] - wanted) <= 1e-6 * max(1, wanted), name, row[name], wanted)
    ranks = dictionaries(fleet, "rank")
    t.equal([(rank["rank_id"], rank["batches"], rank["verdict"], rank["node"],
              rank["is_culprit"]) for rank in ranks],
            [(rank["rank"], rank["batches"], rank["verdict"], rank["host"], rank["culprit"])
             for rank in found["ranks"]], "ranks")
    blamed = max(ranks, key=lambda rank: rank["blame_s"])
    t.equal(blamed["rank_id"], row["culprit"], "who is to blame")
    t.check(abs(sum(rank["blame_s"] for rank in ranks) - row["wait_s"]) < 0.02 * row["wait_s"],
            "all blame is the job's wait")
    steps = dictionaries(fleet, "step")
    t.equal(len(steps), found["job"]["steps"] // found["job"]["window_steps"], "steps")
    t.check(abs(sum(step["stall_us"] for step in steps) / 1e6 - row["wait_s"]) < 0.1, "their stalls")
    t.equal({(step["epoch"], step["first_step"]) for step in steps},
            {(epoch, step) for epoch in range(2) for step in range(200)}, "where they are")
    waits = {}
    for name in sorted(os.listdir(path)):
        with sqlite3.connect(os.path.join(path, name)) as database:
            for epoch, batch, wait_ns in database.execute("SELECT epoch, batch, wait_ns FROM batch"):
                waits.setdefault((epoch, batch), []).append(wait_ns / 1e3)
    for step in steps[1:]:
        longest = sorted(waits[step["epoch"], step["first_step"]])[-2:]
        for name, wanted in zip(("second_us", "stall_us"), longest):
            t.check(abs(step[name] - wanted) < 1, name, step, wanted)


def check_loads():
    """A rank's row has the numbers of its run's report, and NULL for what the run did not observe."""
    for make_run in (rundb.lockstep, rundb.healthy):
        run = make_run(os.path.join(t.scratch(), "run.db"))
        part = run + ".part"
        t.equal(t.report("fold", run, "-o", part).status, 0)
        said = json.loads(t.report("--json", run).out)
        for source in (run, part):
            fleet = os.path.join(t.scratch(), "fleet.db")
            into(fleet, source)
            row, = dictionaries(fleet, "rank")
            t.equal(row["cause"], said["cause"], "cause")
            for name in ("load_s", "open_s", "read_s", "decode_s", "read_bytes", "storage_bytes"):
                t.equal(row[name], said["breakdown"][name], name)
            t.check(abs(row["load_s"] - row["open_s"] - row["read_s"] - row["other_s"]) < 1e-6, row)


def check_sources(folder, path, parts):
    """Runs, partials and both together make the same rows, also if repeated; rows of other jobs stay."""
    wanted = into(os.path.join(t.scratch(), "fleet.db"), path)
    t.check(all(wanted[table] for table in TABLES[:3]) and not wanted["batch"], "rows")
    runs = [os.path.join(path, "r{}.db".format(rank)) for rank in (0, 1)]
    fleet = os.path.join(t.scratch(), "fleet.db")
    for words in (parts, parts[::-1], runs + parts[1:], [os.path.dirname(parts[0])], [path]):
        found = into(fleet, *words)
        for table in TABLES:
            t.equal(len(found[table]), len(wanted[table]), words, table)
            for one, other in zip(found[table], wanted[table]):
                t.check(all(a == b or (isinstance(a, float) and abs(a - b) <= 1e-9 * max(1, abs(b)))
                            for a, b in zip(one, other)), words, one, other)
    # Some of a job's ranks replace the job's rows, and all its ranks replace these again.
    t.equal([len(into(fleet, *words)["rank"]) for words in ([parts[0]], parts)], [2, len(parts) * 2])


def check_several(folder):
    one, parts = make(folder, [1, 90, 1, 1], "71")
    two, _ = make(folder, [1, 1], "71", attempt=1)
    solo = rundb.lockstep(os.path.join(t.scratch(), "solo.db"))
    other = rundb.lockstep(os.path.join(t.scratch(), "other.db"), meta={"run_id": "box-43-180"})
    fleet = os.path.join(t.scratch(), "fleet.db")
    found = into(fleet, folder, solo, other)
    t.equal([row[:2] for row in found["job"]],
            [("71", 0), ("71", 1), ("box-42-17f", 0), ("box-43-180", 0)], "jobs and attempts")
    t.equal(into(fleet, "--job", "71", *parts), found, "again, one of them")
    refused("'{}' is a partial, which has no batches; --with-batches needs the runs".format(parts[-1]),
            "--into", fleet, "--with-batches", *parts)
    t.equal(content(fleet), found, "nothing is lost")
    found = into(fleet, "--with-batches", one)
    t.equal(len(found["batch"]), 4 * 400, "batches")
    with sqlite3.connect(os.path.join(one, "r1.db")) as run:
        wanted = run.execute("SELECT wait_ns, step_ns, starved FROM batch ORDER BY epoch, batch")
        with sqlite3.connect(fleet) as database:
            t.equal(database.execute("SELECT wait_ns, step_ns, starved FROM batch WHERE rank_id = 1"
                                     " ORDER BY epoch, ordinal").fetchall(), wanted.fetchall())
    t.equal(len(into(fleet, one)["batch"]), 0, "the later export replaces all of the job")


def refused(words, *arguments, verb="export"):
    done = t.report(verb, *arguments)
    t.equal((done.status, done.out, done.err.count("\n")), (2, "", 1), arguments, done.err)
    t.check(words in done.err, words, "is not in", done.err)


def check_refusals(path, parts):
    folder = t.scratch()
    run = rundb.lockstep(os.path.join(folder, "run.db"))
    fleet = os.path.join(folder, "fleet.db")
    into(fleet, path)
    newer = shutil.copy(fleet, os.path.join(folder, "newer.db"))
    with sqlite3.connect(newer) as database:
        database.execute("PRAGMA user_version = 99")
    text = os.path.join(folder, "text.db")
    with open(text, "w", encoding="ascii") as file:
        file.write("hello\n" * 1000)
    bad = os.path.join(folder, "bad.part")
    with open(parts[0], "rb") as file:
        good = file.read()
    with open(bad, "wb") as file:
        file.write(good[:300] + bytes([good[300] ^ 4]) + good[301:])
    for file, words in ((run, "export --into did not make it; name another file"),
                        (newer, "a newer dlprof made it"), (text, "damaged, or not")):
        with open(file, "rb") as opened:
            before = opened.read()
        refused("cannot write '{}': ".format(file), "--into", file, path)
        refused(words, "--into", file, path)
        refused(words, "worst_jobs", file, verb="sql")
        with open(file, "rb") as opened:
            t.equal(opened.read(), before, file, "is as it was")
    refused("'{}': it is damaged".format(bad), "--into", os.path.join(folder, "new.db"), bad)
    t.check(not os.path.exists(os.path.join(folder, "new.db")), "nothing is made of nothing")
    refused("its folder does not exist", "--into", os.path.join(folder, "no/x.db"), path)
    refused("it is a folder", "--into", folder, path)
    os.mkfifo(os.path.join(folder, "fifo"))
    refused("it is a pipe, not a file", "--into", os.path.join(folder, "fifo"), path)
    twice = os.path.join(folder, "twice.db")
    refused("rank 0 is in", "--into", twice, path, run, *parts)
    t.equal([row[0] for row in content(twice)["job"]], ["box-42-17f"], "the job that can be folded")
    refused("are three things", "--into", fleet, "--csv", path)
    refused("are three things", "--into", fleet, "-o", "x", path)
    refused("goes with --into or --csv", "--with-batches", "-o", "x", run)
    refused("--csv needs a folder for its files: -o FOLDER", "--csv", run)
    refused("is one too many", "-o", "x", run, run)
    refused("all views need a folder", run)
    refused("no query is called 'worst_job'; did you mean worst_jobs?", "worst_job", verb="sql")
    refused("cannot make the folder", "--csv", "-o", os.path.join(folder, "no", "x"), path)
    refused("cannot write into '{}'".format(text), "--csv", "-o", text, path)
    full = os.path.join(folder, "full")
    os.mkdir(full)
    os.symlink("/dev/full", os.path.join(full, "job.csv"))
    refused("'{}/job.csv': No space left on device".format(full), "--csv", "-f", "-o", full, path)
    t.equal(sorted(os.listdir(full)), ["job.csv"], "the database on the way is removed")


def sum_of(sum_, data):
    """Returns the checksum of a partial's head and of all before its windows."""
    for word, in struct.iter_unpack("<Q", data):
        sum_ = (sum_ ^ word) * 0x9E3779B97F4A7C15 % 2 ** 64
        sum_ ^= sum_ >> 29
    return sum_


def check_damaged(parts):
    """A damaged file is named and left out, whether it lies in a folder or was an argument; the rest is
    exported, and the status tells that something is missing."""
    folder, fleet = t.scratch(), os.path.join(t.scratch(), "fleet.db")
    for job in ("71", "72", "73"):
        rundb.job(os.path.join(folder, job), [1, 90, 1], job_id=job, attempt="0", world_size="3")
    run, part = os.path.join(folder, "72", "r0.db"), os.path.join(t.scratch(), "bad.part")
    for path, source, size in ((run, run, 9000), (part, parts[0], 400)):
        with open(source, "rb") as file:
            good = file.read()
        with open(path, "wb") as file:
            file.write(good[:size])
    # This damage is found only when the batches are read.
    late = os.path.join(folder, "73", "r1.db")
    with sqlite3.connect(late) as database:
        root, = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 't_batch'").fetchone()
        page, = database.execute("PRAGMA page_size").fetchone()
    with open(late, "r+b") as file:
        file.seek((root - 1) * page)
        file.write(b"\xff" * page)
    runs = [os.path.join(folder, job, name) for job in os.listdir(folder)
            for name in os.listdir(os.path.join(folder, job))]
    good = os.path.dirname(parts[0])
    for words in ([folder, part, good], runs + [part] + parts):
        done = export("--into", fleet, *words)
        t.equal((done.status, done.out), (2, ""), done.err)
        for path in (run, part, late):
            t.equal(done.err.count("'{}'".format(path)), 1, path, done.err)
        t.equal({row[0]: row[1] for row in sqlite3.connect(fleet).execute(
            "SELECT job_id, ranks_seen FROM job")}, {"70": 4, "71": 3, "72": 2}, words)
        os.unlink(fleet)
    found = csv_rows("--csv", folder, part, status=2)
    t.equal({row[0]: row[11] for row in found["job"]}, {"71": "3", "72": "2"}, "as CSV")


def check_hostile(parts):
    """A partial with a right checksum and impossible content is refused by name, or makes rows without the
    impossible values."""
    with open(parts[0], "rb") as file:
        good = file.read()
    texts = good.rindex(b"\0", 0, good.index(b"train.py")) + 1
    bad = os.path.join(t.scratch(), "bad.part")
    size = next(size for size in range(296, len(good), 8)
                if sum_of(0, good[:24] + bytes(8) + good[32:size]) ==
                struct.unpack_from("<Q", good, 24)[0])
    chance = random.Random(3)
    values = [struct.pack("<d", value) for value in (float("nan"), float("inf"), -1e300, 1e300, -1.0)]
    values += [struct.pack("<q", value) for value in (-1, 2 ** 62, -2 ** 63, 99 << 32, 99)]
    seen = {0: 0, 2: 0}
    for _ in range(120):
        made = bytearray(good)
        at = chance.choice((texts, chance.randrange(64, size - 8) // 8 * 8))
        made[at:at + 8] = chance.choice(values)
        struct.pack_into("<Q", made, 24, sum_of(0, good[:24] + bytes(8) + bytes(made[32:size])))
        with open(bad, "wb") as file:
            file.write(made)
        fleet = os.path.join(t.scratch(), "fleet.db")
        done = export("--into", fleet, bad)
        t.check(done.status in seen and (done.status == 0 or "'{}'".format(bad) in done.err), at,
                done.status, done.err)
        seen[done.status] = seen.get(done.status, 0) + 1
        if done.status == 0:
            t.equal(len(content(fleet)["job"]), 1, at)
            for row in content(fleet)["rank"] + content(fleet)["job"]:
                t.check(not any(isinstance(cell, float) and abs(cell) == float("inf") for cell in row),
                        at, row)
    t.check(all(seen.values()), "both happen", seen)


def check_full_disk(path):
    """If the database may not grow the export fails, and leaves what the database had."""
    fleet = os.path.join(t.scratch(), "fleet.db")
    one, _ = make(t.scratch(), [1, 1], "5")
    wanted = into(fleet, one)
    size = os.path.getsize(fleet) + 8192

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    done = subprocess.run([t.REPORT, "export", "--with-batches", "--into", fleet, path],
                          env=t.environment(preload=False), capture_output=True, preexec_fn=limit)
    t.equal(done.returncode, 2, done.stderr)
    t.check(b"cannot write '" + fleet.encode() in done.stderr, done.stderr)
    t.equal(content(fleet), wanted, "what was there")


def check_kills(folder, path):
    """After a kill between jobs or within one, each job is whole, in its old or its new state."""
    fleet = os.path.join(t.scratch(), "fleet.db")
    old = into(fleet, path)
    new = into(os.path.join(t.scratch(), "fleet.db"), "--with-batches", path)
    within = 0
    for _ in range(40):
        into(fleet, path)
        process = subprocess.Popen([t.REPORT, "export", "--with-batches", "--into", fleet, folder],
                                   env=t.environment(preload=False))
        while process.poll() is None and not os.path.exists(fleet + "-journal"):
            pass
        time.sleep(0.0002 * (_ % 8))
        process.kill()
        process.wait()
        within += os.path.exists(fleet + "-journal")
        found = content(fleet)
        for row in found["job"]:
            ranks = [rank for rank in found["rank"] if rank[:2] == row[:2]]
            t.equal(len(ranks), row[11], "ranks of", row[:2])
        mine = {table: [row for row in found[table] if row[:2] == old["job"][0][:2]]
                for table in TABLES}
        t.check(mine in (old, new), "neither what was nor what was to be", len(mine["batch"]))
        if within >= 5:
            break
    t.check(within, "some are killed within a transaction")
    t.say(within, "killed within a transaction")
    whole = into(fleet, "--with-batches", folder)
    t.equal({table: [row for row in whole[table] if row[:2] == old["job"][0][:2]]
             for table in TABLES}, new, "and can be done again")


def check_many_at_once(folder, path):
    """Exporters into one new file wait for each other."""
    fleet = os.path.join(t.scratch(), "fleet.db")
    runs = [rundb.lockstep(os.path.join(t.scratch(), "run.db"), meta={"run_id": "run-{}".format(i)})
            for i in range(12)]
    crowd = [subprocess.Popen([t.REPORT, "export", "--into", fleet, run, path],
                              env=t.environment(preload=False)) for run in runs]
    t.equal([process.wait() for process in crowd], [0] * len(crowd))
    t.equal(len(content(fleet)["job"]), len(crowd) + 1)


def csv_rows(*arguments, status=0):
    """Returns the rows of all CSV files in the folder, by a reader of CSV."""
    folder, found = os.path.join(t.scratch(), "rows"), {}
    done = export(*arguments, "-o", folder)
    t.equal((done.status, done.out), (status, ""), arguments, done.err)
    t.equal(sorted(os.listdir(folder)), sorted(table + ".csv" for table in TABLES), "files")
    for table in TABLES:
        with open(os.path.join(folder, table + ".csv"), encoding="utf-8", newline="") as file:
            found[table] = list(csv.reader(file))[1:]
    return found


def as_csv(rows):
    return [["" if cell is None else cell if isinstance(cell, str) else "{:.17g}".format(cell)
             if isinstance(cell, float) else str(cell) for cell in row] for row in rows]


def check_csv(folder, path):
    """CSV has the same rows from runs, partials and a database; a second export replaces the files whole."""
    solo = rundb.lockstep(os.path.join(t.scratch(), "solo.db"), meta={
        "run_id": "it's\n" + ODD, "host": ODD, "owner": ODD, "dataset": ODD, "storage": "\\N",
        "revision": "\\."})
    with sqlite3.connect(solo) as database:
        database.execute("UPDATE t_meta SET value = CAST(x'61ff62' AS TEXT) WHERE key = 'storage'")
    fleet = os.path.join(t.scratch(), "fleet.db")
    wanted = into(fleet, "--with-batches", path, solo)
    row, = [row for row in dictionaries(fleet, "job") if row["world_size"] is None]
    t.equal((row["job_id"], row["owner"], row["storage"], row["revision"]),
            ("it's\n" + ODD, ODD, "a\ufffdb", "\\."), "any text, as UTF-8")
    for words in (["--with-batches", path, solo], [fleet]):
        found = csv_rows("--csv", *words)
        for table in TABLES:
            t.equal(sorted(found[table]), sorted(as_csv(wanted[table])), words, table)
    out = os.path.join(t.scratch(), "rows")
    for words in ([], ["-f"]):
        done = export("--csv", "-o", out, *words, solo)
        t.equal((done.status, done.err), (0, ""), words)
    done = export("--csv", "-o", out, solo)
    t.check(done.status == 2 and "job.csv" in done.err, "files that are there", done.err)
    failed = export("--csv", "-o", os.path.join(t.scratch(), "rows"), path, "--job", "none")
    t.equal((failed.status, failed.err.count("\n")), (2, 1), failed.err)


def check_redacted():
    tell = {"job_id": "zebrajob", "owner": "zebra", "dataset": "zebra", "storage": "zebrafs",
            "cluster": "zebra", "revision": "zebra7", "command": "/zebra/python3 /zebra/x.py --zebra"}
    path = rundb.job(os.path.join(t.scratch(), "zebra"), [1, 90, 1, 1], **tell)
    for name in os.listdir(path):
        with sqlite3.connect(os.path.join(path, name)) as database:
            database.execute("UPDATE t_meta SET value = 'zebra' || value WHERE key = 'host'")
    part = os.path.join(t.scratch(), "x.part")
    t.equal(t.report("fold", path, "-o", part).status, 0)
    for words in ([path], [part], [path, "--with-batches"]):
        fleet = os.path.join(t.scratch(), "fleet.db")
        found = into(fleet, "--redact", *words)
        rows = csv_rows("--csv", "--redact", *words)
        with open(fleet, "rb") as file:
            t.check("zebra" not in repr(rows) and b"zebra" not in file.read(), words, "a name is told")
        row, = dictionaries(fleet, "job")
        t.equal((row["owner"], row["name"]), (row["dataset"], "python3"), "one name is one word")
        t.check(row["owner"] and row["owner"] != row["storage"], "two names are two")
        nodes = [rank["node"] for rank in dictionaries(fleet, "rank")]
        t.equal((nodes[0], nodes[2], len(set(nodes))), (nodes[1], nodes[3], 2), "nodes")
        t.equal({rank[0] for rank in found["rank"]}, {row["job_id"]}, "joins")
    # Also a redacted partial of partials with names; the job is chosen by its real name.
    for words in (["zebrajob"], ["zebrajob (0)"]):
        for source in (path, part):
            hidden = os.path.join(t.scratch(), "hidden.part")
            done = t.report("fold", "--redact", "--job", *words, source, "-o", hidden)
            t.equal((done.status, done.err), (0, ""), words, source)
            with open(hidden, "rb") as file:
                t.check(b"zebra" not in file.read(), words, source, "a name is told")
            found = json.loads(t.report("--redact", "--json", "--job", *words, path).out)
            t.equal((found["run"]["job_id"], len(found["ranks"])), ("job-1", 4), words)
    runs = [os.path.join(path, "r{}.db".format(rank)) for rank in (0, 1)]
    t.equal(t.report("fold", *runs, "-f", "-o", part).status, 0)
    others = [os.path.join(path, "r{}.db".format(rank)) for rank in (2, 3)]
    found = json.loads(t.report("fold", "--redact", "--json", part, *others).out)
    t.equal(len(found.get("ranks", [])), 4, "a run and a partial are of one job under any name")
    refused("it holds jobs, and --redact names anew", "--into", fleet, "--redact", path)
    plain = os.path.join(t.scratch(), "plain.db")
    into(plain, path)
    t.check("zebra" not in repr(csv_rows("--csv", "--redact", plain)), "a name is told of a database")
    for name in ("worst_jobs", "culprits", "lost_by_owner"):
        shown = t.report("sql", name, plain, "--redact").out
        t.check(shown and "zebra" not in shown, name, shown)


def check_sql(path):
    listed = t.report("sql").out
    names = re.findall(r"^  (\w+) +[A-Z]", listed.split("tables that")[0], re.M)
    t.check("worst_jobs" in names, "queries", listed)
    for table in TABLES:
        t.check(re.search(r"^{} ".format(table), listed, re.M), table, "is not explained")
    fleet, made = os.path.join(t.scratch(), "fleet.db"), os.path.join(t.scratch(), "made.db")
    into(fleet, path)
    with sqlite3.connect(made) as database:
        database.executescript(t.report("sql", "tables").out)
    for table in TABLES:
        columns = ["SELECT name, type, pk FROM pragma_table_info('{}')".format(table)]
        t.equal(*[sqlite3.connect(one).execute(columns[0]).fetchall() for one in (made, fleet)], table)
    names.remove("tables")
    for name in names:
        text = t.report("sql", name).out
        t.check(text.startswith("-- "), name, text)
        with sqlite3.connect(fleet) as database:
            cursor = database.execute(text)
            columns = [column[0] for column in cursor.description]
            rows = [list(row) for row in cursor]
        found = json.loads(t.report("sql", "--json", name, fleet).out)
        t.equal((found["schema"], found["query"]), ("dlprof.sql/1", name))
        t.equal([[row[column] for column in columns] for row in found["rows"]], rows, name)
        lines = list(csv.reader(io.StringIO(t.report("sql", "--csv", name, fleet).out)))
        t.equal((lines[0], len(lines)), (columns, len(rows) + 1), name)
        shown = t.report("sql", name, fleet).out.splitlines()
        t.equal((shown[0].split(), len(shown)), (columns, len(rows) + 1), name)
    wide = [row.split() for row in t.report("sql", "worst_jobs", fleet).out.splitlines()]
    # On a terminal that is too narrow for the table, each cell has a line, and each row an empty one.
    narrow = t.on_terminal([t.REPORT, "sql", "worst_jobs", fleet], COLUMNS="60").splitlines()
    t.equal([line.split() for line in narrow],
            [line for row in wide[1:] for line in list(map(list, zip(wide[0], row))) + [[]]], "narrow")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([t.REPORT, "sql", "worst_jobs", fleet], stdout=full, stderr=-1,
                              env=t.environment(preload=False))
    t.equal(done.returncode, 2, done.stderr)


def main():
    folder = t.scratch()
    path, parts = make(folder, [1, 1, 90, 1], "70")
    check_numbers(folder, path)
    check_loads()
    check_sources(folder, path, parts)
    check_several(t.scratch())
    check_refusals(path, parts)
    check_damaged(parts)
    check_hostile(parts)
    check_full_disk(path)
    make(folder, [1, 1], "71")
    check_kills(folder, path)
    check_many_at_once(folder, path)
    check_csv(folder, path)
    check_redacted()
    check_sql(path)
    t.finish()


main()
