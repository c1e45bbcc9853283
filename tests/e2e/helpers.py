# SPDX-License-Identifier: Apache-2.0
"""A decoder that waits for threads of its own decodes; one that sleeps does not; and what came in
the middle of a load is not known to have decoded nothing. Packages of the libraries' names stand in."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         rows, run, scratch, wait_for_drain)

NAP_MS = 30
FILES = {
    "zarr/__init__.py": "",
    "zarr/core.py": """
import threading, time
class Array:
    def __getitem__(self, key):
        thread = threading.Thread(target=time.sleep, args=({0} / 1000,))
        thread.start()
        thread.join()
        return key
""",
    "pydicom/__init__.py": "",
    "pydicom/dataset.py": """
import time
class Dataset:
    def convert_pixel_data(self):
        time.sleep({0} / 1000)
""",
    "host.py": """
import pydicom.dataset
from torch.utils.data import DataLoader
class Samples:
    def __len__(self):
        return 6
    def __getitem__(self, index):
        if index % 2:
            pydicom.dataset.Dataset().convert_pixel_data()
        else:
            import zarr.core
            zarr.core.Array()[index]
        return index
print([int(batch) for batch in DataLoader(Samples(), batch_size=1)])
""",
}


def main():
    need_shim()
    need_torch()
    folder = scratch()
    for name, text in FILES.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text.replace("{0}", str(NAP_MS)))
    database = os.path.join(folder, "run.db")
    done = run([PYTHON, os.path.join(folder, "host.py")],
               env=environment(DLPROF_OUT=database, DLPROF_QUIET="1"))
    equal((done.status, done.out, done.err), (0, "[0, 1, 2, 3, 4, 5]\n", ""), "the program")
    wait_for_drain(database)
    loads = rows(database, "SELECT decode_count, decode_ns, load_ns FROM load ORDER BY batch")
    equal(len(loads), 6, "loads")
    nap_ns = NAP_MS * 1000000
    for index, load in enumerate(loads):
        check(load["load_ns"] >= nap_ns, index, "load", dict(load))
        if index == 0:
            equal(load["decode_ns"], None, "decoded while it was imported")
        elif index % 2:
            equal(load["decode_count"], 1, index, "slept")
            check(load["decode_ns"] <= load["load_ns"] - nap_ns, index, "slept", dict(load))
        else:
            equal(load["decode_count"], 1, index, "waited for its thread")
            check(load["decode_ns"] >= nap_ns, index, "waited for its thread", dict(load))
    finish()


main()
