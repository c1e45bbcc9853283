# SPDX-License-Identifier: Apache-2.0
"""A folder that is opened without O_DIRECTORY, as files are, is no data file: Python opens temporary
folders in this way when it removes them, also those of multiprocessing."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, rows,  # noqa
                         run, scratch, wait_for_drain)

PROGRAM = """
import os, shutil, sys
for i in range(100):
    path = os.path.join("tree", "of", "folders{}".format(i % 3))
    os.makedirs(path)
    shutil.rmtree("tree")
fd = os.open(".", os.O_RDONLY)
os.fstat(fd)
os.close(fd)
for i in range(2):
    with open("data", "rb") as file:
        file.read()
fd = os.open("data", os.O_RDONLY)       # the same number, of a file
os.fstat(fd)
os.read(fd, 2)
"""


def main():
    need_shim()
    folder = scratch()
    with open(os.path.join(folder, "data"), "wb") as file:
        file.write(b"12345")
    database = os.path.join(scratch(), "run.db")
    done = run([PYTHON, "-c", PROGRAM], cwd=folder,
               env=environment(DLPROF_OUT=database, DLPROF_ACTIVATE="always", DLPROF_QUIET=1))
    equal(done.status, 0, done.err)
    wait_for_drain(database)
    equal([tuple(row) for row in map(dict.values, rows(database, "SELECT path, count, bytes FROM file"))],
          [("data", 3, 12)], "files")
    equal(rows(database, "SELECT path FROM folder"), [], "folders of names without one")
    finish()


if __name__ == "__main__":
    main()
