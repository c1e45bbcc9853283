# SPDX-License-Identifier: Apache-2.0
"""Loops that keep their own clock, for loaders of any kind, and what the database has of them."""
import os

from dlprof_test import ROOT, equal, rows

# What a program may begin with: drain(take) asks until StopIteration and prints each wait.
with open(os.path.join(ROOT, "tests", "e2e", "frameworks", "driver.py")) as file:
    DRIVER = "import sys\n" + file.read()


def split(out):
    """The program's waits, and the rest of what it printed."""
    waits, rest = [], []
    for line in out.splitlines():
        if line.startswith("WAIT"):
            waits.append(tuple(map(int, line.split()[1:])))
        else:
            rest.append(line)
    return waits, rest


def epochs_of(database):
    """Batches of each epoch of each loader; their ordinals must be 0, 1, 2, ..."""
    loaders = {}
    for row in rows(database, "SELECT loader_id, epoch, batch FROM batch ORDER BY 1, 2, 3"):
        epochs = loaders.setdefault(row["loader_id"], [])
        equal(row["epoch"] in (len(epochs) - 1, len(epochs)), True, "epoch", row)
        if row["epoch"] == len(epochs):
            epochs.append(0)
        equal(row["batch"], epochs[-1], "ordinal", row)
        epochs[-1] += 1
    return list(loaders.values())
