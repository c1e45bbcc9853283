# SPDX-License-Identifier: Apache-2.0
"""The history of many jobs as Parquet, which DuckDB, Spark, ClickHouse and Trino read as it is. Needs DuckDB.

usage: python -m dlprof.lake write ROOT FLEET.db    the jobs of a database of dlprof-report export --into
       python -m dlprof.lake query ROOT NAME        a shipped query

Jobs of a day (UTC) are ROOT/TABLE/date=YYYY-MM-DD/FLEET.parquet. Written again, these files hold what FLEET.db
holds then. Databases of other names are written beside them: a job must be in one of them only.
"""
import contextlib
import glob
import os
import shutil
import subprocess
import sys
import tempfile

from dlprof import PROGRAMS

_TABLES = ("step", "rank", "job")  # in this order, a job is seen only when its ranks are there
_DATE = "strftime(make_timestamp(CAST(coalesce(started_unix_s, 0) * 1e6 AS BIGINT)), '%Y-%m-%d')"


def write(root, fleet):
    """Writes the jobs of a database that `dlprof-report export --into` made; returns their days. Each file is
    replaced as a whole. Raises ValueError if the database cannot be read."""
    os.makedirs(root, exist_ok=True)
    name = os.path.splitext(os.path.basename(fleet))[0] + ".parquet"
    with _duckdb().connect() as database, tempfile.TemporaryDirectory(prefix=".", dir=root) as folder:
        _report("export", "--csv", "-o", folder, fleet)
        database.execute(_report("sql", "tables"))
        for table in _TABLES:
            database.execute("COPY {} FROM {} (HEADER, NULLSTR '', ALLOW_QUOTED_NULLS false, PARALLEL false)".format(
                table, _text(os.path.join(folder, table + ".csv"))))
        database.execute("CREATE TABLE day AS SELECT job_id, attempt, {} AS date FROM job".format(_DATE))
        days = [day for day, in database.execute("SELECT DISTINCT date FROM day ORDER BY date").fetchall()]
        for table in _TABLES:
            for day in days:
                part = os.path.join(folder, name)
                database.execute("COPY (SELECT t.* FROM {} t JOIN day USING (job_id, attempt) WHERE date = '{}' "
                                 "ORDER BY ALL) TO {} (FORMAT parquet, COMPRESSION zstd)".format(
                                     table, day, _text(part)))
                home = os.path.join(root, table, "date=" + day)
                os.makedirs(home, exist_ok=True)
                os.replace(part, os.path.join(home, name))
    for path in glob.glob(os.path.join(glob.escape(root), "*", "date=*", glob.escape(name))):
        if os.path.basename(os.path.dirname(path))[len("date="):] not in days:
            os.unlink(path)
    return days


def query(root, name):
    """Returns the rows of a shipped query ("worst_jobs"; `dlprof-report sql` lists them), or of an SQL text,
    as dictionaries."""
    if not os.path.isdir(os.path.join(root, "job")):
        raise ValueError("'{}' has no jobs".format(root))
    text = name if " " in name else _report("sql", name)
    with contextlib.closing(_duckdb().connect()) as database:
        for table in _TABLES:
            files = os.path.join(glob.escape(os.path.abspath(root)), table, "date=*", "*.parquet")
            database.execute("CREATE VIEW {} AS SELECT * FROM read_parquet({}, union_by_name = true)".format(
                table, _text(files)))
        found = database.execute(text)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row)) for row in found.fetchall()]


def _duckdb():
    try:
        import duckdb
    except ImportError:
        raise ImportError("Parquet needs DuckDB: pip install dlprof[lake]") from None
    return duckdb


def _text(text):
    return "'" + text.replace("'", "''") + "'"


def _report(*arguments):
    program = os.path.join(PROGRAMS, "dlprof-report")
    if not os.path.exists(program):
        program = shutil.which("dlprof-report") or program
    done = subprocess.run([program] + [os.fspath(argument) for argument in arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode()


def _print(rows):
    """Prints rows as columns, aligned to the right."""
    lines = [list(rows[0])] + [["" if cell is None else str(cell) for cell in row.values()]
                               for row in rows] if rows else []
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)))


def _main(verb="", root="", *names):
    if len(names) != 1 or verb not in ("write", "query"):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    try:
        if verb == "write":
            print("days written:", len(write(root, *names)))
        else:
            _print(query(root, *names))
    except (ImportError, OSError, ValueError) as error:
        print("dlprof.lake: {}".format(error), file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    _main(*sys.argv[1:])
