# SPDX-License-Identifier: Apache-2.0
"""Reads the waits that test programs measured themselves, and what the database has of the same run."""
import os

from dlprof_test import ROOT, equal, rows

# First lines of test programs, with drain(take): it calls take() until StopIteration and prints each wait.
with open(os.path.join(ROOT, "tests", "e2e", "frameworks", "driver.py")) as file:
    DRIVER = "import sys\n" + file.read()


def split(out):
    """Returns the waits that a program printed, and the rest of its output."""
    waits, rest = [], []
    for line in out.splitlines():
        if line.startswith("WAIT"):
            waits.append(tuple(map(int, line.split()[1:])))
        else:
            rest.append(line)
    return waits, rest


def epochs_of(database):
    """Returns the number of batches per epoch per loader; checks that ordinals are 0, 1, 2, ..."""
    loaders = {}
    for row in rows(database, "SELECT loader_id, epoch, batch FROM batch ORDER BY 1, 2, 3"):
        epochs = loaders.setdefault(row["loader_id"], [])
        equal(row["epoch"] in (len(epochs) - 1, len(epochs)), True, "epoch", row)
        if row["epoch"] == len(epochs):
            epochs.append(0)
        equal(row["batch"], epochs[-1], "ordinal", row)
        epochs[-1] += 1
    return list(loaders.values())
