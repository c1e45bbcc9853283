# SPDX-License-Identifier: Apache-2.0
"""No number in a database makes a sum wrap: runs every verb on runs with the least and the greatest
integers, by a dlprof-report whose sanitizer reports such sums.

usage: extremes.py REPORT (dlprof-report with -fsanitize=undefined) [all]

"all": changes each column by itself, which takes half an hour; else all columns of a table together.
"""
import os
import random
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import pages
import rundb

REPORT = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else t.REPORT
ALL = sys.argv[2:] == ["all"]
LEAST, MOST = -2**63, 2**63 - 1
VALUES = (LEAST, MOST, -1, 0)
VERBS = ([], ["--json"], ["batches", "--json"], ["html"], ["trace"], ["trace", "--worst", "3"],
         ["top"], ["export", "--view", "batch"],
         ["gate", "--max-stall-ratio", "1%", "--format", "json"])
PARTS = (["batches"], ["html", "--batches", "0:{}".format(MOST)], ["--batches", str(MOST)],
         ["--epoch", str(MOST)])
PAIRS = (["compare"], [], ["html"], ["trace"])  # verbs with two runs, of which the second one is sound


def make(path):
    """Makes a run with rows in every table."""
    batches = pages.with_gpu(rundb.simulate(40, 2, 60, 10, epochs=2))
    gaps = pages.gap_rows(batches)
    for number, batch in enumerate(batches):
        batch.update(decode_count=1, decode_ns=10, decode_bytes=10, blocked_ns=5, transfer_ns=5)
        if number % 20 == 19:
            batch["batch"] = None
    rundb.build(path, [rundb.loader(batches, workers=2)], version=5, losses=[3],
                meta={"clock": "gpu", "cuda_mode": "cupti", "cpu_limit_milli": "4000", "world_size": "4",
                      "main_cpu_ns": "1000", "main_cpu_of_ns": "2000", "other_cpu_ns": "1000",
                      "other_cpu_of_ns": "2000", "cuda_dropped": "3", "cuda_records": "7"})
    pages.add_inside(path, lambda what: what)
    database = sqlite3.connect(path)
    for row in gaps:
        rundb.insert(database, "t_gpu_step", row)
        key = {name: row[name] for name in ("loader_id", "epoch", "task")}
        for device in range(2):
            rundb.insert(database, "t_gpu_device", dict(
                key, device=device, fed=1, busy_ns=10**6, idle_wait_ns=10, kernel_count=3,
                graph_count=1, h2d_bytes=5, peer_bytes=5))
        rundb.insert(database, "t_gpu_call", dict(
            key, sync_ns=5, copy_ns=5, launch_ns=5, launch_count=5, other_sync_ns=5,
            other_copy_ns=5, other_launch_ns=5, other_launch_count=5))
        rundb.insert(database, "t_gpu_part", dict(key, refill_ns=5, **{
            "{}_{}_ns".format(what, part): 5 for what in ("idle", "launched")
            for part in ("before", "backward", "between", "optimizer", "after")}))
    rundb.insert_lines(database, [(role, 1, phase, [("/x/a.py", "f", 1), ("/x/b.py", "g", 2)], 100)
                                  for role, phase in (("worker", "load"), ("main", "not_ready"),
                                                      ("thread", "not_ready"), ("main", "step"))])
    rundb.insert(database, "t_doing", {"pid": 42, "role": "main", "worker_id": 1, "since_ns": 1,
                                       "seen_ns": 10**12, "frames": "1 2"})
    begin = rundb.START_NS
    for i in range(3):
        database.execute("INSERT INTO t_gap VALUES (?, ?, 'why', 42)", (begin + i, begin + 10 + i))
        database.execute("INSERT INTO t_unlisted VALUES (?, 7)", (("file", "folder", "x")[i],))
        for ns in (None, 10**6):
            rundb.insert(database, "t_mark", {"ts_ns": begin + i, "pid": 42, "text": "x", "ns": ns,
                                              "tid": 42 if ns else 43})
    database.execute("UPDATE t_process SET start_ns = ?, end_ns = ?", (begin, begin + 10**9))
    database.commit()
    database.close()
    return path


def numbers(database):
    """Returns the integer columns of each table; numbers in the table of texts are its rows."""
    found = {}
    for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND"
                                     " name GLOB 't_*'").fetchall():
        columns = database.execute("PRAGMA table_info({})".format(table)).fetchall()
        found[table] = [name for _, name, kind, *_ in columns if kind == "INTEGER"]
    del found["t_meta"]
    return {table: columns for table, columns in found.items() if columns}


def connect(path):
    """Opens a database with a function that is true for one row of three, the same rows in every test."""
    database, chance = sqlite3.connect(path), random.Random(7)
    database.create_function("chance", 0, lambda: chance.randrange(3) == 0)
    return database


def change(path, table, columns, value, some):
    """Sets columns in all rows, or in every third row, so that others keep ordinary numbers. A key's column
    is set in as many rows as can have the value."""
    database = connect(path)
    for column in columns:
        database.execute("UPDATE OR IGNORE {} SET {} = ?{}".format(
            table, column, " WHERE chance()" if some else ""), (value,))
    database.commit()
    database.close()


def change_meta(path, value, some):
    database = connect(path)
    database.execute("UPDATE t_meta SET value = ? WHERE value GLOB '[0-9]*' AND key != 'schema'"
                     + (" AND chance()" if some else ""), (str(value),))
    database.commit()
    database.close()


def check(name, path, other):
    for verb in VERBS:
        ask(name, verb + [path])
    for verb in PARTS if other else ():
        ask(name, verb + [path])
    for verb in PAIRS if other else ():
        ask(name, verb + [path, other])


def ask(name, arguments):
    done = t.run([REPORT] + arguments, timeout=120, env=t.environment(
        preload=False, UBSAN_OPTIONS="print_stacktrace=0:halt_on_error=0"))
    said = [line for line in done.err.splitlines() if "runtime error" in line]
    t.equal(said, [], name, " ".join(arguments[:2]))
    t.check(done.status in (0, 1, 2, 3), name, arguments, "status", done.status, done.err[-300:])


def main():
    folder = t.scratch()
    base = make(os.path.join(folder, "base.db"))
    other = make(os.path.join(folder, "other.db"))
    database = sqlite3.connect(base)
    tables = numbers(database)
    database.close()
    check("as it should be", base, other)
    path = os.path.join(folder, "run.db")
    for value in VALUES:
        for some in (False, True):
            name = "{}{}".format(value, " in some rows" if some else "")
            shutil.copy(base, path)
            for table, columns in tables.items():
                change(path, table, columns, value, some)
            change_meta(path, value, some)
            check("all: " + name, path, other)
            shutil.copy(base, path)
            change_meta(path, value, some)
            check("meta: " + name, path, other)
            # Extreme numbers beside ordinary ones can disturb most sums.
            if not ALL and (not some or value in (-1, 0)):
                continue
            for table, columns in tables.items():
                for part in [[column] for column in columns] if ALL else [columns]:
                    shutil.copy(base, path)
                    change(path, table, part, value, some)
                    check("{} {}: {}".format(table, " ".join(part) if ALL else "", name), path,
                          other if ALL else None)
    t.finish()


main()
