# SPDX-License-Identifier: Apache-2.0
"""How long the shipped queries take on a fleet: 10,000 jobs of 300 ranks, and a tenth of it.

usage: fleet.py [JOBS RANKS STEPS]      medians of TIMES; needs what tests/fleet/install.sh installs

Parquet lies as dlprof.lake leaves it, a file a job and compacted. Everything is in the page cache as
far as it fits; the load of the machine is printed, as others may have the cores.
"""
import glob
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "cli"),
                os.path.join(HERE, "..", "fleet"),
                os.path.join(HERE, "..", "..", "analyzer", "python")]
import dlprof_test as t
import engines
import fleetdb

TIMES = 3
TABLES = ("job", "rank", "step")


def make(folder, count, rank_count, step_count):
    """All forms of the fleet in one go, in the Python that has pyarrow."""
    import pyarrow
    from pyarrow import csv, parquet

    from dlprof import lake
    types = {"INTEGER": pyarrow.int64(), "REAL": pyarrow.float64(), "TEXT": pyarrow.string()}
    schemas = {table: pyarrow.schema([(name, types[kind]) for name, kind in columns])
               for table, (columns, _) in fleetdb.tables().items()}
    nodes = ["node{:04}".format(i) for i in range(1000)]
    database = fleetdb.create(os.path.join(folder, "fleet.db"))
    database.execute("PRAGMA synchronous = OFF")
    for day in range(10):
        rows = {table: [] for table in TABLES}
        for number in range(count * day // 10, count * (day + 1) // 10):
            job, ranks, steps = fleetdb.make_job(number, count, rank_count, step_count, nodes)
            for table, some in (("job", [job]), ("rank", ranks), ("step", steps)):
                fleetdb.insert(database, table, some)
                rows[table].append(pyarrow.Table.from_pylist(some, schemas[table]))
                home = os.path.join(folder, "jobs", table, "date=2026-09-{:02}".format(day + 1))
                os.makedirs(home, exist_ok=True)
                parquet.write_table(rows[table][-1], os.path.join(
                    home, lake._file_name(job["job_id"], job["attempt"])), compression="zstd")
        for table in TABLES:
            home = os.path.join(folder, "days", table, "date=2026-09-{:02}".format(day + 1))
            os.makedirs(home)
            whole = pyarrow.concat_tables(rows[table])
            parquet.write_table(whole, os.path.join(home, "day.parquet"), compression="zstd")
            csv.write_csv(whole, os.path.join(folder, "{}.{}.csv".format(table, day)),
                          csv.WriteOptions(include_header=False))
    database.commit()


def say(what, seconds):
    t.say("{:30} {} load {:.0f}".format(what, " ".join("{:>6.2f}".format(
        statistics.median(seconds[name])) for name in engines.QUERIES), os.getloadavg()[0]))


def ask(what, engine, root, times=TIMES):
    done = t.run([engines.PYTHON, os.path.join(HERE, "..", "fleet", "ask.py"), engine, root,
                  engines.SQL, str(times)], timeout=3000,
                 env=t.environment(preload=False, SPARK_LOCAL_IP="127.0.0.1", TEST_JAVA=" "))
    if t.equal(done.status, 0, done.err[-1000:]):
        say(what, {name: one["seconds"] for name, one in json.loads(done.out).items()})


def measure(what, ask_once):
    seconds = {}
    for name, text in engines.texts():
        for _ in range(TIMES):
            begin = time.monotonic()
            ask_once(text)
            seconds.setdefault(name, []).append(time.monotonic() - begin)
    say(what, seconds)


def measure_postgres(folder):
    with engines.Postgres() as postgres:
        for table, (columns, keys) in fleetdb.tables().items():
            postgres.psql("-c", "CREATE TABLE {} ({}, PRIMARY KEY ({}))".format(
                table, ", ".join("{} {}".format(name, {"INTEGER": "bigint", "TEXT": "text"}.get(
                    kind, "double precision")) for name, kind in columns),
                ", ".join(name for name, _ in columns[:keys])))
        begin = time.monotonic()
        for path in sorted(glob.glob(os.path.join(folder, "*.csv"))):
            done = postgres.psql("-c", "\\copy {} FROM '{}' CSV".format(
                os.path.basename(path).split(".")[0], path))
            t.equal(done.status, 0, done.err)
        postgres.psql("-c", "ANALYZE")
        t.say("PostgreSQL took {:.0f} s to load".format(time.monotonic() - begin))
        measure("postgresql", lambda text: t.equal(postgres.psql("-c", text).status, 0))


def bench(count, rank_count, step_count):
    folder = t.scratch()
    begin = time.monotonic()
    subprocess.run([engines.PYTHON, __file__, "--make", folder, str(count), str(rank_count),
                    str(step_count)], check=True)
    t.say("{} jobs, {} ranks, made in {:.0f} s".format(count, count * rank_count,
                                                       time.monotonic() - begin))
    t.say(" " * 30, *engines.QUERIES)
    days, jobs = os.path.join(folder, "days"), os.path.join(folder, "jobs")
    for engine in ("duckdb", "chdb"):
        ask(engine + ", a file a day", engine, days)
        ask(engine + ", a file a job", engine, jobs, 1)
    database = sqlite3.connect(os.path.join(folder, "fleet.db"))
    measure("sqlite", lambda text: database.execute(text).fetchall())
    for workers in (1, 2):
        with engines.Spark(workers) as cluster:
            ask("spark, {} workers, a file a day".format(workers), "spark=" + cluster.master, days)
    measure_postgres(folder)


def main(*arguments):
    if arguments[:1] == ("--make",):
        make(arguments[1], *map(int, arguments[2:]))
        return
    if not os.path.exists(engines.PYTHON):
        t.skip("the venv of engines is not there: tests/fleet/install.sh")
    count, rank_count, step_count = map(int, arguments or (10000, 300, 20))
    for jobs in (count // 10, count):
        bench(jobs, rank_count, step_count)
    t.check(True)
    t.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
