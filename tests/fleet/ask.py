# SPDX-License-Identifier: Apache-2.0
"""One engine on one lake, in the Python that has it: JSON of {query: [names of columns, rows]}.

usage: ask.py duckdb|chdb|spark[=MASTER] ROOT FOLDER_OF_SQL [TIMES]

With TIMES each query is asked so often, and "seconds" has how long each took.
"""
import glob
import json
import os
import sys
import time

import servers

TABLES = ("job", "rank", "step")
PARTS = 2  # of a shuffle, for a test's two cores
JAVA = os.environ.get("TEST_JAVA", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # starts sooner


def duckdb(root, _):
    import duckdb as engine
    database = engine.connect()
    for table in TABLES:
        database.execute("CREATE VIEW {0} AS FROM read_parquet('{1}/{0}/date=*/*.parquet')".format(
            table, root))

    def ask(text):
        found = database.execute(text)
        return [column[0] for column in found.description], found.fetchall()
    return ask


def chdb(root, _):
    from chdb.session import Session
    session = Session()
    session.query("CREATE DATABASE IF NOT EXISTS lake ENGINE = Atomic")
    session.query("USE lake")
    for table in TABLES:
        session.query("CREATE VIEW {0} AS SELECT * FROM file('{1}/{0}/date=*/*.parquet', Parquet)"
                      .format(table, root))

    def ask(text):
        found = json.loads(str(session.query(text, "JSONCompact")))
        rows = [[number(cell, column["type"]) for cell, column in zip(row, found["meta"])]
                for row in found["data"]]
        return [column["name"] for column in found["meta"]], rows
    return ask


def number(cell, kind):
    """64-bit integers come as text."""
    return int(cell) if isinstance(cell, str) and "Int" in kind else cell


def spark(root, master):
    from pyspark.sql import SparkSession
    settings = {
        "spark.driver.memory": "800m", "spark.executor.memory": "800m",
        "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": PARTS,
        "spark.driver.extraJavaOptions": JAVA, "spark.executor.extraJavaOptions": JAVA}
    builder = SparkSession.builder.master(master or "local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for table in TABLES:
        session.read.parquet(os.path.join(root, table)).createOrReplaceTempView(table)

    def ask(text):
        found = session.sql(text)
        return found.columns, [list(row) for row in found.collect()]
    return ask


def main(engine, root, folder, times="1"):
    name, _, master = engine.partition("=")
    ask, answers = {"duckdb": duckdb, "chdb": chdb, "spark": spark}[name](root, master), {}
    for path in sorted(glob.glob(os.path.join(folder, "*.sql"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        seconds = []
        for _ in range(int(times)):
            begin = time.monotonic()
            columns, rows = ask(text)
            seconds.append(time.monotonic() - begin)
        answers[os.path.basename(path)[:-4]] = {"columns": columns, "rows": rows,
                                                "seconds": seconds}
    json.dump(answers, sys.stdout, default=float)


if __name__ == "__main__":
    servers.end_with_parent()
    main(*sys.argv[1:])
