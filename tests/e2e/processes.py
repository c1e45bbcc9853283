# SPDX-License-Identifier: Apache-2.0
"""What the processes that load are said to use, and what they make: planted, and compared.

usage: processes.py CASE...: the program of a case; without, the test, which runs all of them.
"""
import collections
import concurrent.futures
import os
import sys
import threading
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, REPORT, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, report, rows, run, scratch, wait_for_drain)

import json

LOADS, WORKERS, THREADS = 40, 2, 8
KEPT_BYTES = 200 << 20  # that a worker writes to of what it was forked with


def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def many_threads(torch, state, index):
    """Threads that need no interpreter: as many matrix libraries have them."""
    def work(number):
        end = time.monotonic() + 0.15
        while time.monotonic() < end:
            zlib.compress(text, 9)

    text = bytes(range(256)) * 2000
    if "crew" not in state:
        state["crew"] = concurrent.futures.ThreadPoolExecutor(THREADS)
    list(state["crew"].map(work, range(THREADS)))


def one_thread(torch, state, index):
    spin(0.1)


def narrowed(torch, state, index):
    spin(0.05)


def grow(torch, state, index):
    """Writes to a part of what the parent has, after the first load."""
    part = KEPT_BYTES // (LOADS // WORKERS - 4)
    begin = index // WORKERS * part
    if index >= WORKERS:
        state["memory"][begin:begin + part].fill_(1)
    time.sleep(0.1)


CASES = {"many_threads": many_threads, "one_thread": one_thread, "narrowed": narrowed,
         "bound": narrowed, "grow": grow}


def program(case):
    import torch
    from torch.utils.data import DataLoader, Dataset

    if case == "bound":
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
    state = {"memory": torch.zeros(KEPT_BYTES, dtype=torch.uint8)} if case == "grow" else {}

    def prepare(worker):
        if case == "narrowed":
            os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})

    class Data(Dataset):
        def __len__(self):
            return LOADS

        def __getitem__(self, index):
            CASES[case](torch, state, index)
            return index

    if "memory" in state:
        state["memory"].fill_(2)
    for _ in DataLoader(Data(), num_workers=WORKERS, worker_init_fn=prepare,
                        multiprocessing_context="fork"):
        pass


Fields = collections.namedtuple("Fields", "image label")


def batches():
    """Shapes of batches: how many tensors they have, and bytes; None: not known."""
    import numpy
    import torch

    class Kept:
        def __init__(self):
            self.image = torch.zeros(10, dtype=torch.float64)
            self.label = "ab"

    class Odd:
        __slots__ = ("image",)

    four = torch.zeros(1, dtype=torch.float32)
    return [("tensor", torch.zeros(3, 5), 1, 60), ("dict", {"a": four, "b": {"c": four}}, 2, 8),
            ("list", [four, (four, [four])], 3, 12), ("named", Fields(four, [1, 2.5, None]), 1, 4),
            ("kept", Kept(), 1, 82), ("array", [numpy.zeros(4, dtype="i8"), b"123"], 0, 35),
            ("many", [four] * 300, 300, 1200), ("unknown", [four, Odd()], 1, None),
            ("too_many", [four] * 5000, None, None),
            ("deep", [[[[[[[[[four]]]]]]]]], None, None),
            ("expanded", four.expand(1000), 1, 4000), ("numbers", [1.5] * 20000, None, None)]


def shapes():
    from torch.utils.data import DataLoader, Dataset

    class Data(Dataset):
        def __len__(self):
            return 16

        def __getitem__(self, index):
            return index

    for _, batch, _, _ in batches():
        for _ in DataLoader(Data(), collate_fn=lambda samples, batch=batch: batch):
            pass


def threads():
    """A thread of a name of its own takes CPU while the training waits and steps."""
    from torch.utils.data import DataLoader, Dataset
    import ctypes

    class Data(Dataset):
        def __len__(self):
            return 30

        def __getitem__(self, index):
            time.sleep(0.1)
            return index

    def work():
        ctypes.CDLL(None).prctl(15, b"feature-calc", 0, 0, 0)
        begin = time.thread_time()
        while not over.is_set():
            spin(0.02)
            time.sleep(0.02)
        print(time.thread_time() - begin)

    over = threading.Event()
    thread = threading.Thread(target=work)
    loader = iter(DataLoader(Data(), num_workers=1, multiprocessing_context="fork"))
    next(loader)
    thread.start()
    for _ in loader:
        spin(0.03)
    over.set()
    thread.join()


def recorded(case):
    database = os.path.join(scratch(), case + ".db")
    done = run([PYTHON, os.path.abspath(__file__), case], env=environment(DLPROF_OUT=database))
    equal(done.status, 0, case, done.err)
    wait_for_drain(database)
    shown = report(database, "--json")
    return database, done.out, json.loads(shown.out)


def check_processes():
    cores = len(os.sched_getaffinity(0))
    _, _, many = recorded("many_threads")
    _, _, one = recorded("one_thread")
    check(many["workers"]["threads"] > 4, "threads at once of 8", many["workers"])
    check(0.7 < one["workers"]["threads"] < 2.5, "threads at once of one", one["workers"])
    equal(one["workers"]["cores_allowed"], cores, "cores allowed")
    _, _, few = recorded("narrowed")
    equal(few["workers"]["cores_allowed"], 1, "cores allowed, by a worker's own mask")
    database, _, bound = recorded("bound")
    found = rows(database, "SELECT value FROM meta WHERE key = 'cores_at_start'")
    equal([row["value"] for row in found], [str(cores)] if cores > 1 else [],
          "cores before the training narrowed its mask")
    if cores > 1:
        equal(bound["cause"], "narrowed_cores", "a mask of the training itself")
    _, _, grown = recorded("grow")
    for name, told in ("one_thread", one), ("grow", grown):
        begin, end = (told["memory"][key] for key in ("private_begin_bytes", "private_end_bytes"))
        check(begin is not None and end is not None, name, "memory is observed", told["memory"])
        if begin is not None and end is not None:
            # Looks are seconds apart: it may have grown on since the last.
            least, most = (0.1, 1.1) if name == "grow" else (-0.05, 0.05)
            check(least * KEPT_BYTES <= end - begin <= most * KEPT_BYTES, name, "grew by",
                  end - begin, "of", KEPT_BYTES)


def check_shapes():
    database, _, _ = recorded("shapes")
    found = rows(database, "SELECT tensor_count, batch_bytes FROM load WHERE batch = 0"
                           " ORDER BY begin_ns")
    for (name, _, tensors, size), row in zip(batches(), found):
        equal((row["tensor_count"], row["batch_bytes"]), (tensors, size), name)
    counts = [row["object_count"] for row in rows(database, "SELECT object_count FROM t_made WHERE task = 0"
                                                           " ORDER BY loader_id")]
    equal(counts[:2] + counts[-1:], [1, 4, 16385], "objects")
    equal(len(found), len(batches()), "loads")


def check_threads():
    _, out, told = recorded("threads")
    names = {thread["name"]: thread["cpu_s"] for thread in told["threads"]}
    check("feature-calc" in names, "the busy thread is named", told["threads"])
    check(0.5 * float(out) <= names.get("feature-calc", 0) <= float(out) + 0.05,
          "its CPU time", names, "of", out)
    check(told["main_thread_cpu_s"] > 0.25, "the training's own", told["main_thread_cpu_s"])


def main():
    need_shim()
    need_torch()
    check_shapes()
    check_threads()
    check_processes()
    finish()


if len(sys.argv) > 1 and sys.argv[1] in CASES:
    program(sys.argv[1])
elif len(sys.argv) > 1:
    {"shapes": shapes, "threads": threads}[sys.argv[1]]()
else:
    main()
