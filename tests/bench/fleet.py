# SPDX-License-Identifier: Apache-2.0
"""How long the shipped queries take on a fleet: 10,000 jobs of 300 ranks, and a tenth of it.

usage: fleet.py [JOBS RANKS STEPS]      medians of TIMES; needs what tests/fleet/install.sh installs

Parquet lies as dlprof.lake leaves it, a file a day. Everything is in the page cache as
far as it fits; the load of the machine is printed, as others may have the cores.
"""
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


def make(folder, count, rank_count, step_count):
    """All forms of the fleet in one go, in the Python that has DuckDB."""
    from dlprof import lake
    nodes = ["node{:04}".format(i) for i in range(1000)]
    path = os.path.join(folder, "fleet.db")
    database = fleetdb.create(path)
    database.execute("PRAGMA synchronous = OFF")
    for number in range(count):
        job, ranks, steps = fleetdb.make_job(number, count, rank_count, step_count, nodes)
        for table, some in (("job", [job]), ("rank", ranks), ("step", steps)):
            fleetdb.insert(database, table, some)
    database.commit()
    begin = time.monotonic()
    lake.write(os.path.join(folder, "lake"), path)
    t.say("dlprof.lake write took {:.0f} s".format(time.monotonic() - begin))


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
    rows = os.path.join(folder, "rows")
    with engines.Postgres() as postgres:
        postgres.psql(text=t.report("sql", "tables").out)
        begin = time.monotonic()
        done = t.report("export", "--csv", "-o", rows, os.path.join(folder, "fleet.db"))
        t.equal(done.status, 0, done.err)
        written = time.monotonic()
        done = postgres.load(rows)
        t.equal(done.status, 0, done.err)
        postgres.psql("-c", "ANALYZE")
        t.say("export --csv took {:.0f} s, PostgreSQL {:.0f} s to load it".format(
            written - begin, time.monotonic() - written))
        measure("postgresql", lambda text: t.equal(postgres.psql("-c", text).status, 0))


def bench(count, rank_count, step_count):
    folder = t.scratch()
    begin = time.monotonic()
    subprocess.run([engines.PYTHON, __file__, "--make", folder, str(count), str(rank_count),
                    str(step_count)], check=True)
    t.say("{} jobs, {} ranks, made in {:.0f} s".format(count, count * rank_count,
                                                       time.monotonic() - begin))
    t.say(" " * 30, *engines.QUERIES)
    lake = os.path.join(folder, "lake")
    for engine in ("duckdb", "chdb"):
        ask(engine, engine, lake)
    database = sqlite3.connect(os.path.join(folder, "fleet.db"))
    measure("sqlite", lambda text: database.execute(text).fetchall())
    for workers in (1, 2):
        with engines.Spark(workers) as cluster:
            ask("spark, {} workers".format(workers), "spark=" + cluster.master, lake)
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
