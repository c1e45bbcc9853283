# SPDX-License-Identifier: Apache-2.0
"""The shipped queries have the same answers in SQLite, DuckDB, ClickHouse, PostgreSQL and Spark.

Some jobs come from runs by way of `export`, more are made up (fleetdb.py). Spark is a
cluster of a master and two workers, PostgreSQL a server: both are started and ended here.
"""
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "cli")]
import dlprof_test as t
import fleetdb
import rundb
import servers

ENGINES = os.environ.get("TEST_ENGINES") or os.path.join(t.BUILD, "pypi", "engines")
PYTHON = os.path.join(ENGINES, "bin", "python")
SQL = t.scratch()
LOAD = os.path.join(t.ROOT, "examples", "fleet", "postgres.sql")
QUERIES = ("bad_nodes", "culprits", "lost_by_dataset", "lost_by_owner", "lost_by_storage",
           "regression", "worst_jobs")
JOBS, RANKS, STEPS = 240, 48, 4
ODD = "../a b/%2F?*[x]{}'\"=作業"
SECONDS = 900
CLUSTER_JAVA = "-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def make_runs(folder):
    """Folders of runs: two jobs, of which one has a culprit and the other an odd name, and a partial."""
    facts = {"world_size": "4", "dataset": "coco", "storage": "nfs", "revision": "a1", "owner": "ada"}
    for name, late, job_id in (("culprit", [1, 1, 90, 1], "77"), ("odd", [1] * 4, ODD),
                               ("folded", [80, 1, 1, 1], "78")):
        rundb.job(os.path.join(folder, name), late, job_id=job_id, attempt="0", **facts)
    part = os.path.join(folder, "78.part")
    done = t.report("fold", os.path.join(folder, "folded"), "-o", part)
    t.equal(done.status, 0, done.err)
    shutil.rmtree(os.path.join(folder, "folded"))
    return [os.path.join(folder, "culprit"), os.path.join(folder, "odd"), part]


def rows_of(path):
    """All that a fleet file holds."""
    database = sqlite3.connect(path)
    return {table: sorted(database.execute("SELECT * FROM " + table), key=repr)
            for table in fleetdb.tables()}


def write_queries():
    for name in QUERIES:
        with open(os.path.join(SQL, name + ".sql"), "w", encoding="utf-8") as file:
            file.write(t.report("sql", name).out)


def texts():
    for name in QUERIES:
        with open(os.path.join(SQL, name + ".sql"), encoding="utf-8") as file:
            yield name, file.read()


def plain(rows):
    """A number is a number, whatever type an engine counts in."""
    return [[round(float(cell), 6) if isinstance(cell, (int, float)) else cell for cell in row]
            for row in rows]


def ask_sqlite(path):
    answers = {}
    for name, text in texts():
        found = sqlite3.connect(path).execute(text)
        answers[name] = [column[0] for column in found.description], plain(found.fetchall())
    return answers


def compare(engine, answers, expected):
    for name in QUERIES:
        columns, rows = answers.get(name) or (None, [])
        t.equal(columns, expected[name][0], engine, name)
        different = [pair for pair in zip(rows, expected[name][1]) if pair[0] != pair[1]][:2]
        t.check(not different and len(rows) == len(expected[name][1]), engine, name, different,
                len(rows), "rows")
    t.say(engine, "agrees" if not t.failure_count() else "was asked")


def python(code, *arguments):
    """In the Python that has DuckDB, with the package from here and the programs that were built."""
    found = t.run([PYTHON, "-c", "import sys; from dlprof import lake; " + code] + list(arguments),
                  env=t.environment(preload=False,
                                    PYTHONPATH=os.path.join(t.ROOT, "analyzer", "python"),
                                    PATH=os.path.dirname(t.REPORT) + ":" + os.environ["PATH"]),
                  timeout=SECONDS)
    t.equal(found.status, 0, found.err[-2000:])
    return found.out


def ask(engine, root, **changes):
    """DuckDB, ClickHouse and Spark are asked in the other Python."""
    done = t.run([PYTHON, os.path.join(HERE, "ask.py"), engine, root, SQL], timeout=SECONDS,
                 env=t.environment(preload=False, **changes))
    if not t.equal(done.status, 0, engine, done.err[-3000:]):
        return {}
    found = json.loads(done.out)
    return {name: (one["columns"], plain(one["rows"])) for name, one in found.items()}


class Spark:
    """A cluster of this machine."""

    def __init__(self, workers=2):
        self.folder, self.started, self.workers = t.scratch(), [], workers
        self.master = "spark://127.0.0.1:{}".format(servers.free_port())

    def start(self, kind, *arguments):
        log = os.path.join(self.folder, "{}.log".format(len(self.started)))
        home = glob.glob(os.path.join(ENGINES, "lib", "python3*", "site-packages", "pyspark"))[0]
        scala = glob.glob(os.path.join(home, "jars", "spark-core_*"))[0].split("_")[-1].split("-")[0]
        with open(log, "w") as file:
            self.started.append(servers.start(
                ["java"] + CLUSTER_JAVA.split() +
                ["-cp", os.path.join(home, "jars", "*"), "org.apache.spark.deploy." + kind,
                 "--host", "127.0.0.1", "--webui-port", "0"] + list(arguments),
                stdout=file, stderr=subprocess.STDOUT,
                env=t.environment(preload=False, SPARK_HOME=home, SPARK_SCALA_VERSION=scala,
                                  SPARK_LOCAL_IP="127.0.0.1")))
        return log

    def __enter__(self):
        log = self.start("master.Master", "--port", self.master.rpartition(":")[2])
        for number in range(self.workers):
            self.start("worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir",
                       os.path.join(self.folder, "work{}".format(number)), self.master)
        end = time.monotonic() + 300
        while self.text(log).count("Registering worker") < self.workers and time.monotonic() < end:
            time.sleep(0.5)
        t.equal(self.text(log).count("Registering worker"), self.workers, self.text(log)[-2000:])
        return self

    @staticmethod
    def text(path):
        with open(path, errors="replace") as file:
            return file.read()

    def __exit__(self, *_):
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


class Postgres:
    """A server of this machine, which will not be root's."""

    def __init__(self):
        self.folder = t.scratch()
        self.data = os.path.join(self.folder, "data")
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        os.chmod(self.folder, 0o755)
        os.mkdir(self.data)
        self.user = []
        if os.getuid() == 0:
            shutil.chown(self.data, "postgres", "postgres")
            self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
                         "--pdeathsig=keep"]

    def command(self, name, *arguments):
        return self.user + [os.path.join(self.programs, name)] + list(arguments)

    def __enter__(self):
        done = t.run(self.command("initdb", "-D", self.data, "-U", "fleet", "-A", "trust", "-N",
                                  "--locale=C.UTF-8", "-E", "UTF8"), cwd="/", timeout=300)
        t.equal(done.status, 0, done.out, done.err)
        self.server = servers.start(
            self.command("postgres", "-D", self.data, "-k", self.data, "-c", "listen_addresses=",
                         "-F"), cwd="/", env=t.environment(preload=False),
            stdout=subprocess.DEVNULL, stderr=open(os.path.join(self.folder, "log"), "w"))
        end = time.monotonic() + 120
        while self.psql("-c", "SELECT 1").status and time.monotonic() < end:
            time.sleep(0.5)
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait(120)

    def arguments(self):
        return ["psql", "-X", "-q", "-h", self.data, "-U", "fleet", "-d", "postgres",
                "-v", "ON_ERROR_STOP=1"]

    def psql(self, *arguments, text=None):
        return t.run(self.arguments() + list(arguments), text_in=text, timeout=SECONDS,
                     env=t.environment(preload=False))

    def load(self, folder):
        """The rows in the folder, which psql reads as whoever runs it."""
        return t.run(self.arguments() + ["-f", LOAD], cwd=folder, timeout=SECONDS,
                     env=t.environment(preload=False))

    def rows(self, query):
        """Of an answer as JSON, which keeps NULL and numbers apart from text."""
        done = self.psql("-A", "-t", "-c", "SELECT coalesce(json_agg(q), '[]') FROM ({}) q".format(
            query))
        t.equal(done.status, 0, done.err)
        return json.loads(done.out or "[]")


def check_postgres(postgres, runs, fleet):
    """What examples/fleet says: `sql tables | psql` once, then `export --csv` and postgres.sql, twice, and
    once cut off in the middle."""
    made = t.report("sql", "tables")
    for _ in range(2):
        t.equal(postgres.psql(text=made.out).status, 0)
    counts = "SELECT " + ", ".join("(SELECT count(*) FROM {0}) AS {0}".format(table)
                                   for table in ("job", "rank", "step"))
    expected = {table: len(rows_of(fleet)[table]) for table in ("job", "rank", "step")}
    folder = os.path.join(t.scratch(), "rows")
    done = t.report("export", "--csv", "-o", folder, *runs)
    t.equal(done.status, 0, done.err)
    for _ in range(2):
        loaded = postgres.load(folder)
        t.equal(loaded.status, 0, loaded.err)
        t.equal(postgres.rows(counts), [expected], "rows in PostgreSQL")
    t.equal(postgres.rows("SELECT job_id, stall_ratio FROM job ORDER BY 2, 1"), [
        dict(zip(("job_id", "stall_ratio"), row)) for row in sqlite3.connect(fleet).execute(
            "SELECT job_id, stall_ratio FROM job ORDER BY 2, 1")], "to the last digit")
    # A job's rows of another number, up to the middle of its ranks.
    with open(os.path.join(folder, "rank.csv"), "r+", encoding="utf-8") as file:
        text = file.read()
        file.truncate(len(text.encode()) // 2)
    t.check(postgres.load(folder).status != 0, "half a file is refused")
    t.equal(postgres.rows(counts), [expected], "rows after half a file")
    # Of what is loaded again there are fewer ranks.
    t.equal(t.report("export", "-f", "--csv", "-o", folder, os.path.join(runs[0], "r0.db")).status, 0)
    t.equal(postgres.load(folder).status, 0)
    t.equal(postgres.rows("SELECT count(*) AS n FROM rank WHERE job_id = '77'"), [{"n": 1}], "replaced")


def fill_postgres(postgres, fleet):
    """Anew, from the database that has more jobs."""
    folder = os.path.join(t.scratch(), "rows")
    done = t.report("export", "--csv", "-o", folder, fleet)
    t.equal(done.status, 0, done.err)
    done = postgres.load(folder)
    t.equal(done.status, 0, done.err)


def ask_postgres(postgres, expected):
    answers = {}
    for name, text in texts():
        rows = postgres.rows(text)
        columns = list(rows[0]) if rows else expected[name][0]
        answers[name] = columns, plain([row.values() for row in rows])
    return answers


def check_lake(fleet, root):
    """The files of dlprof.lake: one a day and table, and again the same."""
    python("lake.write(*sys.argv[1:])", root, fleet)
    files = sorted(glob.glob(os.path.join(root, "*", "date=*", "*")))
    python("lake.write(*sys.argv[1:])", root, fleet)
    t.equal(sorted(glob.glob(os.path.join(root, "*", "date=*", "*"))), files, "repeated")
    t.check(len(files) > 20 and len(files) % 3 == 0, "files", files)


def main():
    for path, what in ((PYTHON, "the venv of engines"), (shutil.which("java"), "java"),
                       (glob.glob("/usr/lib/postgresql/*/bin/initdb"), "postgresql")):
        if not path or isinstance(path, str) and not os.path.exists(path):
            t.skip(what + " is not there: tests/fleet/install.sh")
    write_queries()
    folder, root = t.scratch(), os.path.join(t.scratch(), "a lake")
    runs, fleet = make_runs(folder), os.path.join(folder, "fleet.db")
    for _ in range(2):
        done = t.report("export", "--into", fleet, *runs)
        t.equal(done.status, 0, done.err)
    once = rows_of(fleet)
    t.equal([len(once[table]) for table in ("job", "rank")], [3, 12], "exported twice")
    with Postgres() as postgres:
        check_postgres(postgres, runs, fleet)
        fleetdb.fill(sqlite3.connect(fleet), JOBS, RANKS, STEPS)
        expected = ask_sqlite(fleet)
        for name in QUERIES:
            t.check(expected[name][1], name, "finds nothing")
            t.say(name, *expected[name][1][:1])
        fill_postgres(postgres, fleet)
        compare("PostgreSQL", ask_postgres(postgres, expected), expected)
    check_lake(fleet, root)
    compare("DuckDB", ask("duckdb", root), expected)
    compare("ClickHouse", ask("chdb", root), expected)
    with Spark() as cluster:
        compare("Spark", ask("spark=" + cluster.master, root, SPARK_LOCAL_IP="127.0.0.1"), expected)
    t.finish()


if __name__ == "__main__":
    main()
