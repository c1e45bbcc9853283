# SPDX-License-Identifier: Apache-2.0
"""A load gets exactly the opens, reads and images of the threads that it starts, as strace sees them. No load
gets them where several loads run at once, or where the loading thread is not the process's first thread.

usage: crews.py [FOLDER CASE...]: with arguments the program that loads; without them the test, which runs it.
"""
import concurrent.futures
import io
import multiprocessing
import os
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         rows, run, say, scratch, wait_for_drain)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import bytes as strace  # noqa
import loads as acts  # noqa

# If many threads begin at once, one may get no place to record, and its records count as lost: use few.
BATCHES, BATCH, CREW = 6, 4, 2
PARTS = 3  # parts of a sample, each read by another thread
OWN = 1000  # bytes that the loading thread reads itself
STORED = 40 << 20


def take(path, size):
    fd = os.open(path, os.O_RDONLY)
    content = os.read(fd, size)
    os.close(fd)
    return content


def make_file(folder):
    """Makes and removes an empty file, as tempfile does: it must not count as data."""
    path = os.path.join(folder, "new-{}-{}".format(os.getpid(), threading.get_ident()))
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    os.unlink(path)


def size_of(index, part):
    return 10000 + 1000 * index + part


def part_path(folder, index, part):
    return os.path.join(folder, "{}.{}".format(index, part))


def make(folder):
    from PIL import Image

    for index in range(BATCHES * BATCH):
        for part in range(PARTS):
            with open(part_path(folder, index, part), "wb") as file:
                file.write(bytes(size_of(index, part)))
    image = Image.effect_noise((300, 200), 50)
    image.save(os.path.join(folder, "image.jpg"))


def decode(data):
    from PIL import Image

    Image.open(io.BytesIO(data)).load()


class Samples:
    """Samples whose parts threads read; the loading thread reads OWN bytes itself."""

    def __init__(self, folder, before=lambda: None):
        self.folder, self.before, self.crew = folder, before, None

    def __len__(self):
        return BATCHES * BATCH

    def submit(self, *work):
        if not self.crew:
            self.crew = concurrent.futures.ThreadPoolExecutor(CREW)
        return self.crew.submit(*work)

    def __getitem__(self, index):
        self.before()
        self.submit(make_file, self.folder).result()
        take(part_path(self.folder, index, 0), OWN)
        parts = [self.submit(take, part_path(self.folder, index, part), 1 << 20)
                 for part in range(PARTS)]
        self.submit(decode, take(os.path.join(self.folder, "image.jpg"), 1 << 20)).result()
        return sum(len(part.result()) for part in parts)


class Batches(Samples):
    """Loads a batch at a time (__getitems__), and does all of that in threads."""

    def work(self, index):
        take(part_path(self.folder, index, 0), OWN)
        for part in range(PARTS):
            take(part_path(self.folder, index, part), 1 << 20)
        decode(take(os.path.join(self.folder, "image.jpg"), 1 << 20))
        return index

    def __getitems__(self, indices):
        return [work.result() for work in [self.submit(self.work, index) for index in indices]]


class Nested(Samples):
    """Each sample runs a whole loader of its own, whose worker is forked during the outer load."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        spin(self.folder, Samples(self.folder), 1)
        return index


def spin(folder, dataset, workers):
    from torch.utils.data import DataLoader

    for _ in DataLoader(dataset, batch_size=BATCH, num_workers=workers):
        pass


def two_at_once(folder):
    meet = threading.Barrier(2)
    other = threading.Thread(target=spin, args=(folder, Samples(folder, meet.wait), 0))
    other.start()
    spin(folder, Samples(folder, meet.wait), 0)
    other.join()


def elsewhere(folder):
    other = threading.Thread(target=spin, args=(folder, Samples(folder), 0))
    other.start()
    other.join()


def stored(folder):
    """Loads a file, from a thread, that is not in the page cache."""
    from torch.utils.data import DataLoader

    class Cold:
        def __len__(self):
            return 3

        def __getitem__(self, index):
            acts.drop(os.path.join(folder, "stored"))
            with concurrent.futures.ThreadPoolExecutor(1) as crew:
                return len(crew.submit(take, os.path.join(folder, "stored"), STORED).result())

    for _ in DataLoader(Cold(), num_workers=1):
        pass


CASES = {
    "workers": lambda folder: spin(folder, Samples(folder), 2),
    "batches": lambda folder: spin(folder, Batches(folder), 1),
    "nested": lambda folder: spin(folder, Nested(folder), 0),
    "no_workers": lambda folder: spin(folder, Samples(folder), 0),
    "two_at_once": two_at_once,
    "elsewhere": elsewhere,
    "stored": stored,
}
LOADERS = ("workers", "batches", "outer", "nested", "no_workers", "two_at_once", "two_at_once",
           "elsewhere")


def record(folder, *cases):
    """Runs cases; returns a list of loads for each loader and epoch. A new loader may count as another
    epoch of a loader that is gone, if it has that loader's place in memory."""
    database = os.path.join(scratch(), "run.db")
    done = run([PYTHON, "-W", "ignore", os.path.abspath(__file__), folder] + list(cases),
               env=environment(DLPROF_OUT=database, DLPROF_QUIET=1))
    equal(done.status, 0, cases, "status", done.err[-2000:])
    wait_for_drain(database)
    found = {}
    for load in rows(database, "SELECT * FROM load ORDER BY begin_ns"):
        found.setdefault((load["loader_id"], load["epoch"]), []).append(load)
    return list(found.values())


def check_loads(case, loads, folder):
    image = os.path.getsize(os.path.join(folder, "image.jpg"))
    own = BATCH * (OWN + image)
    alone = case not in ("two_at_once", "elsewhere")
    equal(len(loads), BATCHES, case, "loads")
    for load in loads:
        first = load["batch"] * BATCH
        crew = sum(size_of(index, part) for index in range(first, first + BATCH)
                   for part in range(PARTS))
        name = "{}: batch {}:".format(case, load["batch"])
        equal(load["read_bytes"], own + crew if alone else own, name, "bytes")
        equal(load["read_count"], BATCH * (2 + (PARTS if alone else 0)), name, "reads")
        equal(load["open_count"], BATCH * (2 + (PARTS if alone else 0)), name, "opens")
        if alone:
            equal(load["decode_count"], BATCH, name, "images")
            equal(load["decode_bytes"], BATCH * image, name, "bytes decoded")
        parts = sum(load[part + "_ns"] or 0
                    for part in ("open", "read", "decode", "collate", "other"))
        equal(parts, load["load_ns"], name, "its parts, and its time")
        if case == "batches":
            equal((load["open_ns"], load["read_ns"]), (0, 0), name, "threads' time")
    say(case, sum(load["read_bytes"] for load in loads), "bytes")


def check_strace(loads, folder):
    """Compares the bytes of all loads with those that strace saw the kernel deliver."""
    argv = [PYTHON, "-W", "ignore", os.path.abspath(__file__), folder, "workers"]
    if not strace.can_trace():
        say("no strace")
        return
    equal(sum(load["read_bytes"] for load in loads), sum(strace.by_strace(argv, folder).values()),
          "bytes, and strace's")


def check_stored(folder):
    """Bytes from storage are right, but for the first load, which begins before there are threads."""
    path = os.path.join(folder, "stored")
    with open(path, "wb") as file:
        file.write(os.urandom(STORED))
    if not acts.can_drop(path, STORED):
        say("the file system keeps nothing on a device: storage is not checked")
        return
    found = record(folder, "stored")[0]
    equal(len(found), 3, "stored: loads")
    for load in found[1:]:
        check(abs(load["storage_bytes"] - STORED) < STORED * 0.02, "bytes from storage", load)


def main():
    need_shim()
    need_torch()
    folder = os.path.realpath(scratch())
    make(folder)
    found = record(folder, *[case for case in CASES if case != "stored"])
    if equal(len(found), len(LOADERS), "loaders"):
        outer = found.pop(LOADERS.index("outer"))  # its load forked a worker, and read nothing itself
        equal([load["read_bytes"] for load in outer], [0], "outer")
        for case, loads in zip((case for case in LOADERS if case != "outer"), found):
            check_loads(case, loads, folder)
        check_strace(found[0], folder)
    check_stored(folder)
    finish()


def program():
    tempfile.gettempdir()  # finds the folder now: else a worker's thread would make a file in it to try it
    multiprocessing.set_start_method("fork")
    for case in sys.argv[2:]:
        CASES[case](sys.argv[1])


if __name__ == "__main__":
    program() if len(sys.argv) > 1 else main()
