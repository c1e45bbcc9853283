# SPDX-License-Identifier: Apache-2.0
"""Reads the account of the training in this process, and the database of a recorded run."""
import ctypes
import os
import sqlite3
from urllib.parse import quote

_HOME = os.path.dirname(os.path.abspath(__file__))
_APPLICATION_ID = 0x646C7072

PROGRAMS = os.path.join(_HOME, "bin")
LIBRARY = os.path.join(_HOME, "lib", "libdlprof.so")


def latest():
    """Returns what this process's training waited for data so far, for a logger: {"batches": 1200,
    "ratio": 0.31, "wait_s": 41.2, "time_s": 133.0}. The keys mean the same as in the stall of
    `dlprof-report --json`, by the host's clock. Returns {} if nothing is recorded, and before the
    second batch. Takes some microseconds; any thread may call it."""
    try:
        account = ctypes.CDLL(None).dlprof_account
    except AttributeError:
        return {}
    numbers = (ctypes.c_uint64 * 3)()
    account(numbers)
    batches, wait_ns, time_ns = numbers
    if not time_ns:
        return {}
    return {"batches": batches, "ratio": wait_ns / time_ns, "wait_s": wait_ns / 1e9,
            "time_s": time_ns / 1e9}


def read(path):
    """Returns the views of a recorded run by name, "batch", "load", "process", ...: data frames if
    pandas is installed, else lists of dictionaries. Times are in nanoseconds, sizes in bytes; NULL
    is None (NaN). Raises FileNotFoundError, or ValueError if the file is no run of dlprof."""
    os.stat(path)
    database = sqlite3.connect("file:{}?mode=ro".format(quote(os.path.abspath(path))), uri=True)
    database.row_factory = sqlite3.Row
    try:
        if database.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
            raise ValueError("'{}' is not a run of dlprof's".format(path))
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'view' AND name NOT "
                                 "LIKE 't|_%' ESCAPE '|'").fetchall()
        return {name: _table(database.execute('SELECT * FROM "{}"'.format(name)))
                for name, in names}
    except sqlite3.DatabaseError as error:
        raise ValueError("'{}' cannot be read: {}".format(path, error))
    finally:
        database.close()


def _table(cursor):
    columns = [column[0] for column in cursor.description]
    rows = cursor.fetchall()
    try:
        import pandas
    except ImportError:
        return [dict(row) for row in rows]
    return pandas.DataFrame([tuple(row) for row in rows], columns=columns)
