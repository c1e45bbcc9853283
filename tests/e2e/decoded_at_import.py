# SPDX-License-Identifier: Apache-2.0
"""What a module decodes while it is imported is no load's decoding: Cython's constants, say."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, databases, environment, equal, finish,  # noqa
                         need_shim, need_torch, rows, run, scratch, wait_for_drain)

LIBRARY = """
import zlib
CONSTANTS = [zlib.decompress(zlib.compress(b"constant" * 100)) for _ in range(36)]
try:
    import library_that_is_not_there
except ImportError:
    pass
"""
# The whole training is an import, too.
PROGRAM = """
from torch.utils.data import DataLoader
next(iter(DataLoader([1, 2])))
import training
"""
TRAINING = """
import sys, zlib
from torch.utils.data import DataLoader
packed = zlib.compress(b"data" * 1000)
class Set:
    def __len__(self):
        return 6
    def __getitem__(self, index):
        if index == 1:
            import library
        return len(zlib.decompress(packed)) if index == 4 else 1
for _ in DataLoader(Set(), batch_size=2, num_workers=int(sys.argv[1])):
    pass
"""


def main():
    need_torch()
    need_shim()
    for workers in 0, 1:
        folder = scratch()
        for name, text in (("library.py", LIBRARY), ("program.py", PROGRAM),
                           ("training.py", TRAINING)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        done = run([PYTHON, "-W", "ignore", "program.py", str(workers)], cwd=folder,
                   env=environment(DLPROF_OUT=os.path.join(folder, "run.db"), DLPROF_QUIET=1))
        equal((done.status, done.out, done.err), (0, "", ""), workers, "workers: the program")
        for database in databases(folder):
            wait_for_drain(database)
            found = [row["decode_count"] or 0 for row in
                     rows(database, "SELECT decode_count FROM load WHERE samples = 2 ORDER BY batch")]
            equal(found, [0, 0, 1], workers, "workers: decoded by each load")
            equal(rows(database, "SELECT library, count FROM decode"),
                  [{"library": "zlib", "count": 1}], workers, "workers: decoded in all")
    finish()


main()
