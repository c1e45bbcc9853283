# SPDX-License-Identifier: Apache-2.0
"""dlprof.lake: every job is seen once, whatever its id, however often it is written and wherever that stops."""
import collections
import glob
import os
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..", "..", "analyzer", "python")
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "cli"), PACKAGE]
import dlprof_test as t
import engines
import fleetdb
import rundb
from dlprof import lake

ODD = ("../../etc", "a b", "/", ".hidden", "_x", "{a,b}*?[c]", "作业" * 100, "77", "77-0", "%2F", "",
       "it's", "a\"b\r\nc,d\\e", "NULL", "\\N")
TABLES = {"job": 1, "rank": 3, "step": 2}  # rows of a job
DAY_S = 86400


def make_fleet(path, ids, factor=1, days=1):
    """A job of each id, of so many days."""
    database = fleetdb.create(path)
    for number, job_id in enumerate(ids):
        job, ranks, steps = fleetdb.make_job(number, 1000000, TABLES["rank"], TABLES["step"], ["a"])
        job["started_unix_s"] += number % days * DAY_S
        for table, rows in (("job", [job]), ("rank", ranks), ("step", steps)):
            fleetdb.insert(database, table, [dict(row, job_id=job_id, attempt=0) for row in rows])
    database.execute("UPDATE job SET time_s = time_s * ?", (factor,))
    database.commit()
    return path


def call(*arguments, stop=0):
    """The command in a process of its own, which ends before the `stop`-th file gets its name: (exit status,
    what it said)."""
    said, pid = os.path.join(t.scratch(), "said"), os.fork()
    if pid == 0:
        left, replace = [stop], os.replace

        def stopping(*paths):
            left[0] -= 1
            if left[0] == 0:
                os._exit(9)
            replace(*paths)
        os.replace = stopping
        with open(said, "w", encoding="utf-8") as file:
            sys.stdout = sys.stderr = file
            try:
                lake._main(*arguments)
                status = 0
            except SystemExit as error:
                status = error.code if isinstance(error.code, int) else file.write(error.code) and 1
            file.flush()
        os._exit(status)
    status = os.waitpid(pid, 0)[1] >> 8
    with open(said, encoding="utf-8") as file:
        return status, file.read()


def rows(root, table):
    """All that readers find, as the database has it: without the folders' column."""
    files = glob.glob(os.path.join(glob.escape(root), table, "date=*", "*.parquet"))
    names = ", ".join(name for name, _ in fleetdb.tables()[table][0])
    return [row for path in files for row in duckdb.sql("SELECT {} FROM read_parquet('{}', hive_partitioning = "
                                                        "false)".format(names, path.replace("'", "''").replace(
                                                            "[", "[[]"))).fetchall()]


def check_seen(root, fleet, *what):
    """Each row of the database once, to the last digit."""
    with sqlite3.connect(fleet) as database:
        for table in TABLES:
            names = ", ".join(name for name, _ in fleetdb.tables()[table][0])
            wanted = database.execute("SELECT {} FROM {}".format(names, table)).fetchall()
            t.equal(sorted(rows(root, table), key=repr), sorted(wanted, key=repr), table, *what)


def check_ids():
    root, fleet = os.path.join(t.scratch(), "it's a lake"), os.path.join(t.scratch(), "fleet.db")
    make_fleet(fleet, ODD, days=3)
    for what in ("written", "written again"):
        t.equal(call("write", root, fleet), (0, "days written: 3\n"))
        check_seen(root, fleet, what)
    outside = set(os.listdir(os.path.dirname(root))) | set(os.listdir(root))
    t.equal(outside, {os.path.basename(root), "job", "rank", "step"}, "files elsewhere")
    files = glob.glob(os.path.join(root, "*", "date=*", "*"))
    t.equal(sorted({os.path.basename(path) for path in files}), ["fleet.parquet"], "a file a day")
    t.equal(len(files), 9)
    status, said = call("query", root, "SELECT count(*) AS jobs FROM job")
    t.equal((status, said.split()), (0, ["jobs", str(len(ODD))]))
    # Fewer jobs, of which one began on another day: its old file goes.
    with sqlite3.connect(fleet) as database:
        for table in TABLES:
            database.execute("DELETE FROM {} WHERE job_id NOT IN ('77', 'it''s')".format(table))
        database.execute("UPDATE job SET started_unix_s = started_unix_s + 30 * ? WHERE job_id = '77'", (DAY_S,))
    t.equal(call("write", root, fleet)[0], 0)
    check_seen(root, fleet, "fewer jobs, on other days")
    # Another database of the same days lies beside it.
    other = make_fleet(os.path.join(t.scratch(), "other.db"), ["99"])
    t.equal(call("write", root, other)[0], 0)
    jobs = collections.Counter(row[0] for row in rows(root, "job"))
    t.equal(jobs, {"77": 1, "it's": 1, "99": 1})


def check_stops():
    """Of each table and day a reader sees the old rows or the new ones, never half of them; afterwards all."""
    fleet, ids = t.scratch(), ("1", "2", "3", "4")
    first = make_fleet(os.path.join(fleet, "fleet.db"), ids, days=2)
    os.mkdir(os.path.join(fleet, "new"))
    second = make_fleet(os.path.join(fleet, "new", "fleet.db"), ids, factor=2, days=2)
    for stop in range(1, 7):
        root = t.scratch()
        t.equal(call("write", root, first)[0], 0)
        t.equal(call("write", root, second, stop=stop)[0], 9)
        for table, count in TABLES.items():
            seen = collections.Counter(row[0] for row in rows(root, table))
            t.equal(seen, dict.fromkeys(ids, count), table, "stopped at", stop)
        t.equal(call("write", root, second)[0], 0)
        check_seen(root, second, "written after", stop)


def check_errors():
    root, missing = os.path.join(t.scratch(), "lake"), os.path.join(t.scratch(), "none.db")
    status, said = call("write", root, missing)
    t.equal((status, len(said.splitlines()), "none.db" in said), (2, 1, True), said)
    t.equal(os.listdir(root), [], "after a database that is not there")
    t.equal(call("query", root, "worst_jobs"), (2, "dlprof.lake: '{}' has no jobs\n".format(root)))
    run = rundb.lockstep(os.path.join(t.scratch(), "run.db"))
    t.equal((call("write", root, run), call("query", root, "worst_jobs")[0]), ((0, "days written: 1\n"), 0),
            "a run is a job, too")
    t.check(call("write")[0] == 2 and "usage:" in call("write")[1], "no usage")
    there = sys.modules["duckdb"]
    sys.modules["duckdb"] = None
    for verb, name in (("write", run), ("query", "worst_jobs")):
        t.equal(call(verb, root, name), (2, "dlprof.lake: Parquet needs DuckDB: pip install dlprof[lake]\n"))
    sys.modules["duckdb"] = there


if not os.path.exists(engines.PYTHON):
    t.skip("the venv of engines is not there: tests/fleet/install.sh")
if os.path.realpath(sys.prefix) != os.path.realpath(engines.ENGINES):
    sys.exit(subprocess.run([engines.PYTHON] + sys.argv).returncode)
import duckdb  # noqa: in the other Python alone
os.environ["PATH"] = os.path.dirname(t.REPORT) + ":" + os.environ["PATH"]
check_ids()
check_errors()
check_stops()
t.finish()
