# SPDX-License-Identifier: Apache-2.0
"""The variables DLPROF_* have their effect, and a recorded program prints one line at its end."""
import glob
import json
import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, databases, environment, equal, finish, need_shim,  # noqa
                         need_torch, rows, run, scratch, use_stub, wait_for_drain)

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "sleeper.py")
PLAN = {"workers": 0, "load_s": 0.01, "step_s": 0.002, "batches": 20}
LINE = re.compile(r"dlprof: (\d+) batch(?:es)?, (\d+) % of the time waiting for data"
                  r"(?: \(too few for a verdict\))?, "
                  r"dlprof-report (\S+)\n")


def train(folder, plan=PLAN, **changes):
    changes.setdefault("TMPDIR", folder)
    log = os.path.join(scratch(), "log.json")
    done = run([PYTHON, "-W", "ignore", SLEEPER, log, json.dumps(plan)],
               env=environment(**changes), cwd=folder)
    equal(done.status, 0, "exit status", done.err[-2000:])
    equal(done.out, "trained {}\n".format(plan["batches"]), "stdout")
    for database in glob.glob(os.path.join(folder, "**", "*.db*"), recursive=True):
        wait_for_drain(database)
    return done


def only_database(folder):
    found = databases(folder)
    equal(len(found), 1, "databases in", os.listdir(folder))
    return found[0] if found else None


def share_waiting(database):
    """Returns per cent of time waited, from the return of the first next() to the end of the last step."""
    found = rows(database, "SELECT TOTAL(wait_ns * (batch > 0)) AS wait, MIN(b.begin_ns + wait_ns) AS "
                 "first, MAX(b.begin_ns + step_ns) AS last FROM batch b")[0]
    time = found["last"] - found["first"]
    return int(found["wait"] * 100 + time // 2) // time


def check_exit_line():
    folder = scratch()
    done = train(folder)
    found = LINE.fullmatch(done.err)
    if check(found, "exit line", repr(done.err)):
        database = only_database(folder)
        equal(found.group(1), "20", "batches in the exit line")
        check("(too few for a verdict)" in done.err, "20 batches", done.err)
        equal(int(found.group(2)), share_waiting(database), "share in the exit line")
        equal(os.path.basename(found.group(3)), os.path.basename(database), "name")
        check(re.fullmatch(r"dlprof-\d+\.db", os.path.basename(database)), "default", database)
        check(os.path.exists(os.path.join(folder, found.group(3))), "the name can be typed")
        equal(rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"], 20, "rows")
        equal(sorted(os.listdir(folder)), [os.path.basename(database)], "left behind")
    # Short waits count in the line too.
    folder = scratch()
    done = train(folder, dict(PLAN, load_s=0.0004))
    found = LINE.fullmatch(done.err)
    if check(found, "exit line", repr(done.err)):
        equal(int(found.group(2)), share_waiting(only_database(folder)), "of short waits")
    # With workers too there is one line, which the process prints that started the run.
    done = train(scratch(), dict(PLAN, workers=2, start="spawn"))
    check(LINE.fullmatch(done.err), "exit line with workers", repr(done.err))


def check_silence():
    folder = scratch()
    equal(train(folder, DLPROF_QUIET="1").err, "", "DLPROF_QUIET=1 says")
    only_database(folder)
    folder = scratch()
    equal(train(folder, DLPROF_DISABLE="1").err, "", "DLPROF_DISABLE=1 says")
    equal(os.listdir(folder), [], "DLPROF_DISABLE=1 leaves behind")


def check_names():
    folder = scratch()
    train(folder, DLPROF_OUT="p%p-h%h-r%r-l%l-j%j-q%q{FRUIT}-%%.db", RANK="3", LOCAL_RANK="1",
          SLURM_JOB_ID="77", FRUIT="pear")
    expected = r"p\d+-h{}-r3-l1-j77-qpear-%\.db".format(re.escape(socket.gethostname()))
    name = os.path.basename(only_database(folder) or "")
    check(re.fullmatch(expected, name), "pattern became", name)

    # No database gets the name of a file that exists, whatever that file holds.
    folder = scratch()
    taken = os.path.join(folder, "run.db")
    with open(taken, "w") as file:
        file.write("mine")
    for _ in range(2):
        train(folder, DLPROF_OUT=taken)
    with open(taken) as file:
        equal(file.read(), "mine", "the file that was there")
    equal(len(databases(folder)), 3, "databases", os.listdir(folder))
    for database in databases(folder):
        if database != taken:
            equal(rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"], 20, database)


def check_bad_values():
    for name, value in (("DLPROF_DETAIL", "everything"), ("DLPROF_SLOW_US", "-3"),
                        ("DLPROF_ACTIVATE", "never"), ("DLPROF_NO_SUCH", "1")):
        folder = scratch()
        train(folder, **{name: value})
        database = only_database(folder)
        notes = [row["text"] for row in rows(database, "SELECT text FROM note")
                 if name in row["text"]]
        equal(len(notes), 1, name, "notes", notes)
        equal(rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"], 20, name, "rows")
    folder = scratch()
    train(folder, DLPROF_DETAIL="batches")
    equal(rows(only_database(folder), "SELECT * FROM note WHERE text LIKE '%DLPROF_%'"), [],
          "notes of good values")


def check_slow_operations():
    """DLPROF_DETAIL=slow stores single operations above the threshold, `batches` stores none."""
    reader = ("import os, sys, time; sys.path.insert(0, {!r})\n"
                   "import torch.utils.data as d\n"
                   "class S:\n"
                   "    def __len__(self): return 8\n"
                   "    def __getitem__(self, i): return len(open({!r}, 'rb').read())\n"
                   "print(sum(x[0] for x in d.DataLoader(S(), batch_size=1, collate_fn=list)))\n")
    folder = scratch()
    big = os.path.join(folder, "big")
    with open(big, "wb") as file:
        file.write(os.urandom(24 << 20))
    for detail, threshold, expected in (("slow", 100, True), ("batches", 100, False),
                                        ("slow", 60_000_000, False), ("all", 100, True)):
        out = os.path.join(scratch(), "run.db")
        done = run([PYTHON, "-c", reader.format(folder, big)], cwd=folder,
                   env=environment(DLPROF_OUT=out, DLPROF_DETAIL=detail,
                                   DLPROF_SLOW_US=threshold))
        equal(done.out, "{}\n".format(8 * (24 << 20)), "stdout", done.err)
        wait_for_drain(out)
        reads = rows(out, "SELECT * FROM slow WHERE class = 'read' AND what LIKE '%big%'")
        what = "DLPROF_DETAIL={} DLPROF_SLOW_US={}:".format(detail, threshold)
        check(bool(reads) == expected, what, len(reads), "slow reads")
        total = rows(out, "SELECT SUM(read_bytes) AS n, SUM(read_count) AS c, SUM(open_count) AS o"
                     " FROM load")[0]
        equal(total["n"], 8 * (24 << 20), what, "bytes read")
        equal(total["o"], 8, what, "files opened")


def main():
    need_shim()
    need_torch()
    check_exit_line()
    use_stub()
    check_silence()
    check_names()
    check_bad_values()
    check_slow_operations()
    finish()


main()
