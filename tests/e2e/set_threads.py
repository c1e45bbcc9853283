# SPDX-License-Identifier: Apache-2.0
"""`dlprof run --set threads=1`: the libraries of each worker get it whatever the program said before,
those of the training keep theirs. On the PyTorch that there is, and on that of TEST_VENV."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

CV2 = """
threads = 5
def getNumThreads():
    return threads
def setNumThreads(count):
    global threads
    threads = count
"""
PROGRAM = """
import ctypes, sys, torch
from torch.utils.data import DataLoader

blas = None

def threads():
    import cv2
    return [torch.get_num_threads(), blas.scipy_openblas_get_num_threads64_(), cv2.getNumThreads()]

def init(worker):
    global blas
    blas = ctypes.CDLL(sys.argv[3])
    torch.set_num_threads(3)

class Dataset:
    def __len__(self):
        return 12
    def __getitem__(self, i):
        return torch.tensor(threads())

if __name__ == "__main__":
    torch.set_num_threads(2)
    if sys.argv[1] == "0":
        init(0)
    for batch in DataLoader(Dataset(), num_workers=int(sys.argv[1]), worker_init_fn=init,
                            multiprocessing_context=sys.argv[2] if sys.argv[1] != "0" else None):
        print(batch[0].tolist(), torch.get_num_threads())
"""


def loads(python, blas, workers, context, *options):
    """What each load could use and the training meanwhile, and the database."""
    folder = t.scratch()
    for name, content in (("cv2.py", CV2), ("train.py", PROGRAM)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(content)
    database = os.path.join(folder, "run.db")
    done = t.run([t.DLPROF, "run", "-q", "-o", database, *options, python, "-W", "ignore",
                  os.path.join(folder, "train.py"), str(workers), context, blas],
                 env=t.environment(preload=False), timeout=100)
    t.equal(done.status, 0, workers, context, done.err)
    t.wait_for_drain(database)
    return done.out.splitlines(), database


def notes(database, level):
    return [row["text"] for row in t.rows(database, "SELECT text FROM note WHERE level = '{}'".format(level))]


def check(python, blas):
    for context in ("fork", "spawn"):
        t.equal(loads(python, blas, 2, context)[0], ["[3, 7, 5] 2"] * 12, context, "as it is")
        found, database = loads(python, blas, 2, context, "--set", "threads=1")
        # OpenCV is first imported within a worker's first load, and set before its second.
        t.equal(found, ["[1, 1, 5] 2"] * 2 + ["[1, 1, 1] 2"] * 10, context, "with threads=1")
        t.check("in each worker: threads 7 -> 1" in notes(database, "set"), notes(database, "set"))
        told = json.loads(t.report("--json", database).out)["run"]["set"]
        t.equal((told["asked"], told["samples"]), ("threads=1", "same"), "JSON", told)
    # A library that has this number already does not hide that others are changed.
    found, database = loads(python, blas, 2, "fork", "--set", "threads=7")
    t.equal(found, ["[7, 7, 5] 2"] * 2 + ["[7, 7, 7] 2"] * 10, "with threads=7")
    t.check("in each worker: threads 3 -> 7" in notes(database, "set"), notes(database, "set"))
    found, database = loads(python, blas, 0, "", "--set", "threads=1")
    t.equal(found, ["[3, 7, 5] 3"] * 12, "no workers")
    t.check(any("threads was not set at train.py:" in note and "only workers get it" in note
                for note in notes(database, "warning")), "said", notes(database, "warning"))


def main():
    t.need_shim()
    t.need_torch()
    venv = os.environ.get("TEST_VENV")
    for python in [t.PYTHON] + ([os.path.join(venv, "bin", "python")] if venv else []):
        check(python, os.path.abspath(sys.argv[1]))
    t.finish()


main()
