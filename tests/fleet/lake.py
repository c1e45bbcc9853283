# SPDX-License-Identifier: Apache-2.0
"""dlprof.lake: every job is seen once, whatever its id, and wherever writing or compacting stops."""
import collections
import ctypes
import glob
import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..", "..", "analyzer", "python")
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "cli"), PACKAGE]
import dlprof_test as t
import engines
import fleetdb
import rundb
from dlprof import lake

ODD = ("../../etc", "a b", "/", ".hidden", "_x", "{a,b}*?[c]", "作业" * 100, "77", "77-0", "%2F", "")
TABLES = {"job": 1, "rank": 3, "step": 2}  # rows of a job
STOPS = (1, 4, 6)


class Stopping(tempfile.TemporaryDirectory):
    """Ends the process when the n-th folder of temporary files would go; n = 0: never."""
    left = 0

    def __exit__(self, *_):
        Stopping.left -= 1
        if Stopping.left == 0:
            os._exit(9)
        self.cleanup()


class Nfs:
    """A file system that cannot exchange two folders."""

    @staticmethod
    def renameat2(*_):
        return -1


def make_fleet(path, ids, factor=1):
    """A job of each id, all of one day."""
    database = fleetdb.create(path)
    for number, job_id in enumerate(ids):
        job, ranks, steps = fleetdb.make_job(number, 1000000, TABLES["rank"], TABLES["step"], ["a"])
        for table, rows in (("job", [job]), ("rank", ranks), ("step", steps)):
            fleetdb.insert(database, table, [dict(row, job_id=job_id, attempt=0) for row in rows])
    database.execute("UPDATE job SET time_s = time_s * ?", (factor,))
    database.commit()
    return path


def call(*arguments, stop=0, file_system="ext4"):
    """The command in a process of its own: (exit status, what it said)."""
    said, pid = os.path.join(t.scratch(), "said"), os.fork()
    if pid == 0:
        Stopping.left, tempfile.TemporaryDirectory = stop, Stopping
        if file_system == "nfs":
            ctypes.CDLL = lambda _: Nfs
        with open(said, "w", encoding="utf-8") as file:
            sys.stdout = sys.stderr = file
            try:
                lake._main(*arguments)
                status = 0
            except SystemExit as error:
                status = error.code
            file.flush()
        os._exit(status)
    status = os.waitpid(pid, 0)[1] >> 8
    with open(said, encoding="utf-8") as file:
        return status, file.read()


def seen(root, table):
    """How often each job's rows are there."""
    found = collections.Counter()
    for path in glob.glob(os.path.join(glob.escape(root), table, "date=*", "*.parquet")):
        found.update(parquet.read_table(path, partitioning=None)["job_id"].to_pylist())
    return {job_id: count / TABLES[table] for job_id, count in found.items()}


def check_seen(root, expected, *what):
    for table in TABLES:
        t.equal(seen(root, table), expected, table, *what)


def day_of(root):
    return os.listdir(os.path.join(root, "job"))[0][len("date="):]


def check_ids():
    root, fleet = os.path.join(t.scratch(), "it's a [lake]"), os.path.join(t.scratch(), "fleet.db")
    make_fleet(fleet, ODD)
    once = dict.fromkeys(ODD, 1)
    for what in ("written", "written again"):
        t.equal(call("write", root, fleet), (0, "jobs written: {}\n".format(len(ODD))))
        check_seen(root, once, what)
    outside = set(os.listdir(os.path.dirname(root))) | set(os.listdir(root))
    t.equal(outside, {os.path.basename(root), ".tmp", "job", "rank", "step"}, "files elsewhere")
    t.equal(call("compact", root, day_of(root)), (0, ""))
    check_seen(root, once, "compacted")
    t.equal(os.listdir(os.path.join(root, "rank", "date=" + day_of(root))), ["day.parquet"])
    status, said = call("query", root, "SELECT count(*) AS jobs FROM job")
    t.equal((status, said.split()), (0, ["jobs", str(len(ODD))]))


def check_stops(file_system):
    """A job that is there stays, one that comes is there wholly or not, a day is never half."""
    fleet, ids = t.scratch(), ("1", "2", "3")
    first = make_fleet(os.path.join(fleet, "first.db"), ids)
    second = make_fleet(os.path.join(fleet, "second.db"), ids, factor=2)
    for stop in STOPS:
        root = t.scratch()
        t.equal(call("write", root, first)[0], 0)
        t.equal(call("write", root, second, stop=stop)[0], 9)
        check_seen(root, dict.fromkeys(ids, 1), "writing stopped at", stop)
        t.equal(call("compact", root, day_of(root), stop=stop, file_system=file_system), (9, ""))
        if file_system != "nfs":
            check_seen(root, dict.fromkeys(ids, 1), "compacting stopped at", stop)
        for table in TABLES:
            t.check(set(seen(root, table)) == set(ids), table, "lacks jobs")
        t.equal(call("compact", root, day_of(root), file_system=file_system), (0, ""))
        check_seen(root, dict.fromkeys(ids, 1), "compacted after", stop)
        t.equal(call("write", root, second)[0], 0)
        check_seen(root, dict.fromkeys(ids, 1), "a compacted day written anew")
        times = parquet.read_table(os.path.join(root, "job", "date=" + day_of(root), "day.parquet"),
                                   partitioning=None)["time_s"].to_pylist()
        expected = [row[0] for row in sqlite3.connect(second).execute("SELECT time_s FROM job")]
        t.equal(sorted(times), sorted(expected), "the second fleet's")


def check_errors():
    root, missing = os.path.join(t.scratch(), "lake"), os.path.join(t.scratch(), "none.db")
    status, said = call("write", root, missing)
    t.equal((status, len(said.splitlines()), "none.db" in said), (2, 1, True), said)
    t.equal(glob.glob(os.path.join(root, "*")), [], "after a run that is not there")
    job = rundb.job(t.scratch(), [1, 90], job_id="77")
    status, said = call("write", root, job, missing)
    t.equal((status, "none.db" in said), (2, True), said)
    t.equal(seen(root, "job"), {"77": 1}, "what can be read is written")
    root = os.path.join(t.scratch(), "lake")
    t.equal(call("compact", root, "2026-01-01"),
            (2, "dlprof.lake: '{}' has no jobs of 2026-01-01\n".format(root)))
    t.equal(call("query", root, "worst_jobs"), (2, "dlprof.lake: '{}' has no jobs\n".format(root)))
    t.check(call("write")[0] == 2 and "usage:" in call("write")[1], "no usage")
    for module, verb, words in (("pyarrow", "write", "Parquet needs pyarrow: pip install dlprof[lake]"),
                                ("duckdb", "query", "queries need DuckDB: pip install duckdb")):
        there = sys.modules.get(module)
        sys.modules[module] = None
        t.equal(call(verb, root, missing), (2, "dlprof.lake: {}\n".format(words)))
        sys.modules[module] = there


if not os.path.exists(engines.PYTHON):
    t.skip("the venv of engines is not there: tests/fleet/install.sh")
if os.path.realpath(sys.prefix) != os.path.realpath(engines.ENGINES):
    sys.exit(subprocess.run([engines.PYTHON] + sys.argv).returncode)
from pyarrow import parquet  # noqa: in the other Python alone
os.environ["PATH"] = os.path.dirname(t.REPORT) + ":" + os.environ["PATH"]
check_ids()
check_errors()
for kind in ("ext4", "nfs"):
    check_stops(kind)
t.finish()
