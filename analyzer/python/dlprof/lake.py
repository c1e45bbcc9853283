# SPDX-License-Identifier: Apache-2.0
"""The history of many jobs as Parquet, which DuckDB, Spark, ClickHouse and Trino read as it is.

usage: python -m dlprof.lake write ROOT RUN|FOLDER|PART...     the jobs of these runs
       python -m dlprof.lake compact ROOT YYYY-MM-DD           one file for a day that is over
       python -m dlprof.lake query ROOT NAME                   a shipped query; needs DuckDB

A job's rows are ROOT/TABLE/date=YYYY-MM-DD/job=ID-ATTEMPT.parquet, by the day on which it began (UTC);
those of a compacted day are day.parquet in the same folder. ROOT/.tmp has what is not whole yet.
"""
import contextlib
import ctypes
import datetime
import fcntl
import glob
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from urllib.parse import quote

from dlprof import PROGRAMS

_DAY = "day.parquet"
_KEY = ["job_id", "attempt"]
_TABLES = ("step", "rank", "job")  # a job is seen when its ranks are
_FLEET_ID = b"dlpl"
_NAME_BYTES = 200
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def write(root, *runs):
    """Writes the jobs of these runs, folders of runs, or partials, or of one fleet file that
    `dlprof-report export --into` made; returns their (job_id, attempt).
    A job that is there is replaced: of each table a reader sees the old rows or the new ones, never both
    and never none. ValueError where something cannot be read; what can has been written by then."""
    _arrow()
    failed = None
    with _workplace(root) as folder:
        path = runs[0]
        if len(runs) > 1 or not _is_fleet(path):
            path = os.path.join(folder, "fleet.db")
            try:
                _report("export", "--into", path, *runs)
            except ValueError as error:
                if not os.path.exists(path):
                    raise
                failed = error
        with contextlib.closing(sqlite3.connect(path)) as database:
            jobs = database.execute("SELECT job_id, attempt, started_unix_s FROM job").fetchall()
            for job_id, attempt, started_s in jobs:
                for table in _TABLES:
                    _put(root, table, started_s or 0, (job_id, attempt),
                         _rows(database, table, (job_id, attempt)))
    if failed:
        raise failed
    return [job[:2] for job in jobs]


def compact(root, date):
    """Makes one file a table of a day, "2026-11-23" or a datetime.date. Where the file system can
    exchange two folders (ext4, XFS, Btrfs, tmpfs), a reader sees each job once at any time. Where it cannot
    (NFS), the day's file comes first and the jobs' files go after it: a reader between the two, and after a
    crash there until the day is compacted again, sees jobs twice. Never are they missing."""
    _arrow()
    folders = [os.path.join(root, table, "date={}".format(date)) for table in _TABLES]
    if not os.path.isdir(folders[-1]):
        raise ValueError("'{}' has no jobs of {}".format(root, date))
    for folder in filter(os.path.isdir, folders):
        with _lock(root):
            names = sorted(set(os.listdir(folder)) - {_DAY})
            if names:
                rows = _join(*(_read(os.path.join(folder, name)) for name in names))
                day = os.path.join(folder, _DAY)
                _swap(root, folder, names,
                      _join(_without(rows, day), rows) if os.path.exists(day) else rows)


def query(root, name):
    """The rows of a shipped query ("worst_jobs"; `dlprof-report sql` lists them), or of an SQL text, as
    dictionaries. Needs DuckDB."""
    try:
        import duckdb
    except ImportError:
        raise ImportError("queries need DuckDB: pip install duckdb") from None
    if not os.path.isdir(os.path.join(root, "job")):
        raise ValueError("'{}' has no jobs".format(root))
    text = name if " " in name else _report("sql", name)
    with contextlib.closing(duckdb.connect()) as database:
        for table in _TABLES:
            files = os.path.join(glob.escape(os.path.abspath(root)), table, "date=*", "*.parquet")
            database.execute("CREATE VIEW {} AS SELECT * FROM read_parquet('{}', union_by_name = true)"
                             .format(table, files.replace("'", "''")))
        found = database.execute(text)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row)) for row in found.fetchall()]


def _arrow():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet needs pyarrow: pip install dlprof[lake]") from None
    return pyarrow, pyarrow.parquet


def _report(*arguments):
    program = os.path.join(PROGRAMS, "dlprof-report")
    if not os.path.exists(program):
        program = shutil.which("dlprof-report") or program
    done = subprocess.run([program] + [os.fspath(argument) for argument in arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode()


def _is_fleet(path):
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(72)[68:] == _FLEET_ID


def _rows(database, table, key):
    """A job's, with the types that the columns have in the database."""
    arrow, _ = _arrow()
    types = {"INTEGER": arrow.int64(), "REAL": arrow.float64(), "TEXT": arrow.string()}
    schema = arrow.schema([(column[1], types[column[2]]) for column in
                           database.execute("PRAGMA table_info({})".format(table))])
    rows = database.execute("SELECT {} FROM {} WHERE job_id = ? AND attempt = ?".format(
        ", ".join(schema.names), table), key).fetchall()
    columns = zip(*rows) if rows else [()] * len(schema)
    return arrow.table([arrow.array(column, field.type) for column, field in zip(columns, schema)],
                       schema)


def _file_name(job_id, attempt):
    """No other job's, and no path, whatever the id has in it."""
    name = quote(job_id, safe="")
    if len(name) > _NAME_BYTES:
        name = name[:_NAME_BYTES] + "-" + hashlib.sha256(job_id.encode()).hexdigest()[:16]
    return "job={}-{}.parquet".format(name, attempt)


def _put(root, table, started_s, key, rows):
    """One job's rows of one table, in the place of those it had. Ranks that come later may have begun
    on the day before."""
    began = datetime.datetime.fromtimestamp(started_s, datetime.timezone.utc).date()
    folders = [os.path.join(root, table, "date={}".format(began + datetime.timedelta(days)))
               for days in (0, -1, 1)]
    target, day = (os.path.join(folders[0], name) for name in (_file_name(*key), _DAY))
    with _lock(root):
        old = [path for folder in folders for path in glob.glob(os.path.join(glob.escape(folder), "*"))
               if os.path.basename(path) == os.path.basename(target) or
               os.path.basename(path) == _DAY and _read(path, key).num_rows]
        os.makedirs(folders[0], exist_ok=True)
        if day in old:
            _save(root, _join(_without(rows, day), rows), day)
        else:
            _save(root, rows, target)
        for path in set(old) - {day if day in old else target}:
            if os.path.basename(path) == _DAY:
                _save(root, _without(rows, path), path)
            else:
                os.unlink(path)


def _read(path, key=None):
    """The columns of the file alone, without the folder's; of a key its rows."""
    _, parquet = _arrow()
    return parquet.read_table(path, partitioning=None,
                              filters=key and [(n, "=", v) for n, v in zip(_KEY, key)])


def _without(rows, path):
    """The rows of the file whose jobs have none in `rows`."""
    return _read(path).join(rows.select(_KEY).group_by(_KEY).aggregate([]), _KEY, join_type="left anti")


def _join(*tables):
    """Columns that a later version added are NULL in what an earlier one wrote."""
    return _arrow()[0].concat_tables(tables, promote_options="default")


def _save(root, rows, path):
    """Whole or not at all."""
    _, parquet = _arrow()
    with _workplace(root) as folder:
        part = os.path.join(folder, os.path.basename(path))
        with open(part, "wb") as file:
            parquet.write_table(rows, file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)


def _swap(root, folder, names, rows):
    """The folder has the day's file in the place of these."""
    with _workplace(root) as workplace:
        fresh = os.path.join(workplace, os.path.basename(folder))
        os.mkdir(fresh)
        _save(root, rows, os.path.join(fresh, _DAY))
        if ctypes.CDLL(None).renameat2(_AT_FDCWD, os.fsencode(fresh), _AT_FDCWD,
                                       os.fsencode(folder), _RENAME_EXCHANGE) == 0:
            return
        os.replace(os.path.join(fresh, _DAY), os.path.join(folder, _DAY))
    for name in names:
        os.unlink(os.path.join(folder, name))


def _workplace(root):
    """A folder that goes, on the same file system."""
    return tempfile.TemporaryDirectory(dir=_hidden(root))


def _hidden(root):
    path = os.path.join(root, ".tmp")
    os.makedirs(path, exist_ok=True)
    return path


@contextlib.contextmanager
def _lock(root):
    """One at a time changes what is there."""
    with open(os.path.join(_hidden(root), "lock"), "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _print(rows):
    """Aligned, numbers to the right."""
    lines = [list(rows[0])] + [["" if cell is None else str(cell) for cell in row.values()]
                               for row in rows] if rows else []
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)))


def _main(verb="", root="", *names):
    if not names or verb not in ("write", "compact", "query"):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    try:
        if verb == "write":
            print("jobs written:", len(write(root, *names)))
        elif verb == "compact":
            compact(root, *names)
        else:
            _print(query(root, *names))
    except (ImportError, OSError, ValueError) as error:
        print("dlprof.lake: {}".format(error), file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    _main(*sys.argv[1:])
