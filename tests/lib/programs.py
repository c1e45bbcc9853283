# SPDX-License-Identifier: Apache-2.0
"""Runs programs of tests/e2e/frameworks/ with and without the library: outputs must be equal."""
import os

import fakes
from dlprof_test import (PYTHON, ROOT, environment, equal, rows, run, scratch,
                         wait_for_drain)
from loops import split

FOLDER = os.path.join(ROOT, "tests", "e2e", "frameworks")
patch_points = set()  # patch points that were found in any run


def path_of(name):
    return os.path.join(FOLDER, name + ".py")


def record(name, python=PYTHON, **changes):
    """Returns the program's waits and its database; None if it has none."""
    database, packages = os.path.join(scratch(), "run.db"), scratch()
    fakes.write(packages)
    python = [python, "-B", path_of(name)]
    plain = run(python, env=environment(False, PYTHONPATH=packages), cwd=packages)
    done = run(python, cwd=packages, env=environment(DLPROF_OUT=database, DLPROF_QUIET=1,
                                                     PYTHONPATH=packages, **changes))
    truth, rest = split(done.out)
    equal((done.status, rest, done.err), (plain.status, split(plain.out)[1], plain.err), name,
          "status and output")
    if not os.path.exists(database):
        return truth, None
    wait_for_drain(database)
    found = rows(database, "SELECT value FROM meta WHERE key = 'patch_found'")
    missing = rows(database, "SELECT value FROM meta WHERE key = 'patch_missing'")
    patch_points.update(found[0]["value"].split(","))
    equal([row["value"] for row in missing], [""], name, "missing points")
    return truth, database
