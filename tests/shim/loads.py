# SPDX-License-Identifier: Apache-2.0
"""A load's times of reads, stat calls, sleep and so on are right. Each batch does one thing.

usage: loads.py [FOLDER]: with FOLDER the program that loads; without it the test, which runs the program.
"""
import ctypes
import os
import queue
import resource
import select
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         rows, run, say, scratch, wait_for_drain)

try:
    import h5py
except ImportError:
    h5py = None
try:
    import lmdb
except ImportError:
    lmdb = None
try:
    import torchvision
except ImportError:
    torchvision = None

SLEEP_S = 0.08
# Acts that take at least SLEEP_S, as the kernel promises; those in IN_PART may begin before the recorded call.
FULL = ("sleep", "wait_in_select", "wait_in_poll", "wait_in_epoll")
IN_PART = ("wait_for_queue", "wait_for_thread", "wait_for_socket", "wait_for_child")
MAP_BYTES = 64 << 20
LMDB_COUNT, LMDB_BYTES = 250, 25 * 4096 - 16  # a value fills 25 pages, but for the head of the first page


def drop(path):
    """Drops a file from the page cache, if the file system can do that."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def sleep(folder):
    time.sleep(SLEEP_S)


def stamped(function, *arguments, **keywords):
    begin = time.monotonic_ns()
    function(*arguments, **keywords)
    return time.monotonic_ns() - begin


def get_nothing():
    try:
        queue.Queue().get(timeout=SLEEP_S)
    except queue.Empty:
        pass


def wait_for_queue(folder):
    return stamped(get_nothing)


def wait_for_thread(folder):
    thread = threading.Thread(target=time.sleep, args=(SLEEP_S,))
    thread.start()
    return stamped(thread.join)


def wait_for_socket(folder):
    ours, theirs = socket.socketpair()
    threading.Thread(target=lambda: (time.sleep(SLEEP_S), theirs.send(b"x"))).start()
    return stamped(ours.recv, 1)


def wait_in_select(folder):
    select.select([], [], [], SLEEP_S)


def wait_in_poll(folder):
    select.poll().poll(SLEEP_S * 1000)


def wait_in_epoll(folder):
    select.epoll().poll(SLEEP_S)


def wait_for_child(folder):
    subprocess.run(["/bin/sleep", str(SLEEP_S)])


def ask(folder):
    for _ in range(2000):
        os.stat(folder)
        os.listdir(folder)


def read(folder):
    with open(os.path.join(folder, "big"), "rb", buffering=0) as file:
        file.read(1000000)


def read_by_number(folder):
    libc = ctypes.CDLL(None)
    fd = os.open(os.path.join(folder, "big"), os.O_RDONLY)
    libc.syscall(0, ctypes.c_long(fd), ctypes.create_string_buffer(5000), ctypes.c_long(5000))
    os.close(fd)


def stored():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_inblock * 512


def map_warm(folder):
    """Returns the bytes that the kernel fetched: it may have dropped pages that were in memory."""
    import numpy

    before = stored()
    int(numpy.memmap(os.path.join(folder, "big"), dtype="u1", mode="r")[::4096].sum())
    return stored() - before


def map_cold(folder):
    drop(os.path.join(folder, "big"))
    return map_warm(folder)


def map_lmdb(folder):
    path = os.path.join(folder, "database.lmdb")
    drop(path)
    before = stored()
    with lmdb.open(path, subdir=False, readonly=True, lock=False, readahead=False) as database:
        with database.begin() as reader:
            assert sum(len(value) for _, value in reader.cursor()) == LMDB_COUNT * LMDB_BYTES
    return stored() - before


def map_image(folder):
    path = os.path.join(folder, "big")
    drop(path)
    before = stored()
    int(torchvision.io.read_file(path)[::4096].sum())
    return stored() - before


def unpack_item(folder):
    with h5py.File(os.path.join(folder, "packed.h5"), "r") as file:
        packed = file["x"]  # looking the dataset up decodes nothing
        return stamped(lambda: packed[:])


def unpack_array(folder):
    """Unpacks into a NumPy array, for which h5py calls read_direct()."""
    import numpy

    with h5py.File(os.path.join(folder, "packed.h5"), "r") as file:
        packed = file["x"]
        return stamped(numpy.asarray, packed)


ACTS = [sleep, wait_for_queue, wait_for_thread, wait_for_socket, wait_in_select, wait_in_poll,
        wait_in_epoll, wait_for_child, ask, read, read_by_number, map_cold, map_warm]
ACTS += [map_lmdb] * bool(lmdb) + [map_image] * bool(torchvision)
ACTS += [unpack_item, unpack_array] * bool(h5py)


def program(folder):
    from torch.utils.data import DataLoader, Dataset

    class Acts(Dataset):
        def __len__(self):
            return len(ACTS)

        def __getitem__(self, index):
            import numpy  # noqa: not in the load's time of the first one that needs it

            return ACTS[index](folder) or 0

    if lmdb:
        make_lmdb(os.path.join(folder, "database.lmdb"))
    if h5py:
        with h5py.File(os.path.join(folder, "packed.h5"), "w") as file:
            file.create_dataset("x", data=[i * 7919 % 997 for i in range(1_000_000)],
                                compression="lzf")
    loader = DataLoader(Acts(), num_workers=1, multiprocessing_context="fork")
    for act, own_ns in zip(ACTS, loader):
        print(act.__name__, int(own_ns))


def can_drop(path, size=MAP_BYTES):
    """Whether the kernel counts a read of the dropped file as one from a device: not on tmpfs."""
    drop(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_inblock
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_inblock - before >= size // 512 * 0.9


def make_lmdb(path):
    with lmdb.open(path, subdir=False, map_size=1 << 28) as database:
        with database.begin(write=True) as writer:
            for i in range(LMDB_COUNT):
                writer.put(b"%06d" % i, os.urandom(LMDB_BYTES))


def main():
    need_shim()
    need_torch()
    folder = scratch()
    big, database = os.path.join(folder, "big"), os.path.join(scratch(), "run.db")
    with open(big, "wb") as file:
        for i in range(64):
            file.write(os.urandom(1 << 20))
    droppable = can_drop(big)
    done = run([PYTHON, "-W", "ignore", os.path.abspath(__file__), folder],
               env=environment(DLPROF_OUT=database, DLPROF_QUIET=1, DLPROF_SLOW_US=10000))
    equal(done.status, 0, "status", done.err[-2000:])
    wait_for_drain(database)
    loads = rows(database, "SELECT * FROM load ORDER BY batch")
    acts = [line.split() for line in done.out.splitlines()]
    equal(len(loads), len(acts), "loads")
    for (name, own), load in zip(acts, loads):
        own_ns = int(own)
        say("{}: {:.1f} ms, blocked {:.1f}, open {:.2f}, read {:.2f} ({} calls, {} bytes), "
            "{} bytes from storage".format(name, load["load_ns"] / 1e6, load["blocked_ns"] / 1e6,
                                           load["open_ns"] / 1e6, load["read_ns"] / 1e6,
                                           load["read_count"], load["read_bytes"],
                                           load["storage_bytes"]))
        if name in FULL + IN_PART:
            least = own_ns / 2 if name in IN_PART else SLEEP_S * 0.99e9
            check(least <= load["blocked_ns"] <= load["load_ns"], name, "blocked",
                  load["blocked_ns"], least)
        if name == "ask":
            check(load["open_ns"] > 2000 * 2 * 300, name, "open_ns", load["open_ns"])
            check(load["open_ns"] < load["load_ns"], name, "open_ns", load["open_ns"])
            equal(load["open_count"], 0, name, "a question is no open")
        if name == "read":
            equal(load["read_bytes"], 1000000, name)
        if name == "read_by_number":
            equal(load["read_bytes"], 5000, name)
        if name.startswith("unpack"):  # HDF5's own filter decodes, so that the time is that of h5py's call
            check(own_ns * 0.5 <= load["decode_ns"] + load["read_ns"] <= load["load_ns"], name,
                  "decode_ns", load["decode_ns"], own_ns)
        size = {"map_image": MAP_BYTES, "map_cold": MAP_BYTES, "map_warm": MAP_BYTES,
                "map_lmdb": LMDB_COUNT * LMDB_BYTES}.get(name)
        if size:
            # The kernel may also have read code of libraries again that it had dropped: up to 2 % more.
            check(own_ns <= load["storage_bytes"] < own_ns + size * 0.02, name,
                  "bytes from storage", load["storage_bytes"], own_ns)
        if size and name != "map_warm" and droppable:
            check(own_ns > size * 0.98, name, "the kernel fetched", own_ns)
    if not droppable:
        say("the file system keeps nothing on a device: cold maps are not checked")
    waits = rows(database, "SELECT what, ns FROM slow WHERE class = 'wait' ORDER BY ts_ns")
    for name in ("clock_nanosleep", "select", "poll", "epoll_wait"):
        check(any(name in wait["what"] for wait in waits), name, "is no slow wait of", waits)
    equal({row["exit"] for row in rows(database, "SELECT exit FROM process")}, {"clean"},
          "a worker that ends by os._exit ended by itself")
    finish()


if __name__ == "__main__":
    program(sys.argv[1]) if len(sys.argv) > 1 else main()
