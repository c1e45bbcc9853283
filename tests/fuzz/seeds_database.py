# SPDX-License-Identifier: Apache-2.0
"""Writes corpus/database/seed-*: a run as it is, and those that were made to do harm."""
import os
import sqlite3
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "cli"), os.path.join(HERE, "..", "lib")]
import hostile_runs  # noqa: E402
import line_runs  # noqa: E402
import rundb  # noqa: E402

FOLDER = os.path.join(HERE, "corpus", "database")


def as_it_is(path):
    rundb.lockstep(path, version=5)


def lines(path):
    """Samples of lines, and where processes are."""
    line_runs.held(path)
    database = sqlite3.connect(path)
    rundb.insert(database, "t_doing", {"pid": 42, "role": "main", "since_ns": 1, "seen_ns": 10**11,
                                       "frames": "1 2"})
    database.commit()
    database.close()


def shrink(path):
    """A fuzzer changes one byte at a time: the fewer there are, the better. VACUUM alone changes the
    size of pages, and cannot where the schema is broken."""
    database = sqlite3.connect(path)
    try:
        database.executescript("DELETE FROM t_batch WHERE task > 20; PRAGMA page_size = 512; VACUUM")
    except sqlite3.DatabaseError:
        pass
    database.close()


os.makedirs(FOLDER, exist_ok=True)
for maker in (as_it_is, lines, hostile_runs.recursive_views, hostile_runs.views_for_tables,
              hostile_runs.trigger, hostile_runs.generated_columns, hostile_runs.late_times,
              hostile_runs.large_numbers):
    target = os.path.join(FOLDER, "seed-" + maker.__name__.replace("_", "-"))
    maker(target)
    shrink(target)
