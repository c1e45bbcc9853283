# SPDX-License-Identifier: Apache-2.0
"""What a wait consists of: choosing samples, asking workers for descriptors, ending an epoch early.

usage: parts.py. The numbers of one run are compared; one that disagrees is run again."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, databases, environment, equal, finish,  # noqa: E402
                         need_shim, need_torch, report, rows, run, say, scratch, use_stub,
                         wait_for_drain)

ATTEMPTS = 3
BATCHES = 60

# Says for how long it chose samples while it waited, what else it waited, and how long all took.
SAMPLER = """
import json, sys, time
from torch.utils.data import DataLoader
workers, now = int(sys.argv[1]), time.perf_counter
chosen = []
class Sampler:
    def __iter__(self):
        for i in range(%d):
            begin = now()
            time.sleep(0.02)
            chosen.append((begin, now()))
            yield [i]
    def __len__(self):
        return %d
class Data:
    def __len__(self):
        return %d
    def __getitem__(self, i):
        time.sleep(0.005)
        return i
waits, iterator = [], iter(DataLoader(Data(), batch_sampler=Sampler(), num_workers=workers))
for _ in range(%d):
    begin = now()
    next(iterator)
    waits.append((begin, now()))
    time.sleep(0.01)
over = now()
counted = waits[max(workers, 1):]
sampled = sum(max(0, min(b, d) - max(a, c)) for a, b in counted for c, d in chosen)
within = sum(b - a for a, b in counted)
print(json.dumps([sampled, within - sampled, over - waits[0][1]]))
""" % ((BATCHES,) * 4)

TENSORS = """
import sys, threading, time
import torch
from torch.utils.data import DataLoader, Dataset
how, start, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
class Data(Dataset):
    def __len__(self):
        return %d
    def __getitem__(self, i):
        return [torch.full((4,), float(i)) for _ in range(3)]
def begin(worker):
    torch.multiprocessing.set_sharing_strategy(how)
if __name__ == "__main__":
    begin(0)
    if sys.argv[4:] == ["crowd"]:
        next(iter(DataLoader(Data())))
    for _ in range(200 * (sys.argv[4:] == ["crowd"])):  # more threads than can be recorded
        threading.Thread(target=lambda: (open("data", "w+").read(), time.sleep(1000)), daemon=True).start()
    if sys.argv[4:]:  # a thread that pins memory, without a GPU
        from torch.utils.data._utils import pin_memory
        torch.cuda.is_available = lambda: True
        torch.cuda.current_device = lambda: 0
        torch.cuda.set_device = lambda device: None
        pin_memory.pin_memory = lambda data, device=None: data
    for _ in DataLoader(Data(), 2, num_workers=workers, worker_init_fn=begin,
                        pin_memory=bool(sys.argv[4:]),
                        multiprocessing_context=start if workers else None):
        pass
""" % (2 * BATCHES)


# Holds each batch for one step more, and before it lets go of that works for 1 ms, or lacks its core.
# "leaves": lets go of each batch at once, and leaves the epoch.
FREES = """
import multiprocessing, os, sys, time
import torch
from torch.utils.data import DataLoader
def spin():
    while True:
        pass
class Data:
    def __len__(self):
        return %d
    def __getitem__(self, i):
        return torch.zeros(1 << 18)
if sys.argv[1] == "leaves":
    loader = DataLoader(Data(), 1, num_workers=1, persistent_workers=True)
    for _ in range(20):
        for batch in loader:
            batch = None
            break
    sys.exit()
batches = iter(DataLoader(Data(), 1, num_workers=1))
batch = before = next(batches)
core = {min(os.sched_getaffinity(0))}
rival = multiprocessing.get_context("fork").Process(target=spin, daemon=True)
if sys.argv[1] == "lacks core":
    rival.start()
    os.sched_setaffinity(rival.pid, core)
    os.sched_setaffinity(0, core)
for batch in batches:
    begin = time.perf_counter()
    if sys.argv[1] == "lacks core":
        os.sched_yield()
    while sys.argv[1] == "works" and time.perf_counter() - begin < 0.001:
        pass
    before = batch
    batch = None
if rival.pid:
    rival.kill()
""" % BATCHES


def record(program, *arguments):
    """What it said, and its database."""
    folder = scratch()
    path = os.path.join(folder, "program.py")
    with open(path, "w") as file:
        file.write(program)
    done = run([PYTHON, "-W", "ignore", path, *map(str, arguments)], cwd=folder,
               env=environment(DLPROF_OUT=os.path.join(folder, "run.db"), OMP_NUM_THREADS=1))
    found = databases(folder)
    if not equal((done.status, len(found)), (0, 1), arguments, done.err[-2000:]):
        finish()
    wait_for_drain(found[0])
    return done.out, found[0]


def sampling_differs(workers):
    out, database = record(SAMPLER, workers)
    sampled, rest, time_s = json.loads(out)
    stall = json.loads(report("--json", database).out)["stall"]
    own = [part / time_s for part in (sampled, rest)]
    found = [stall["sampling"], stall["not_ready"] + stall["receiving"]]
    say("{} workers: sampling {:.1%}, {:.1%}; the rest {:.1%}, {:.1%}".format(
        workers, own[0], found[0], own[1], found[1]))
    if not workers:
        equal(stall["receiving"], 0, "without workers nothing is received")
    return [pair for pair in zip(own, found) if abs(pair[0] - pair[1]) > 0.01]


def check_sampling():
    for workers in (0, 2):
        differs = True
        for _ in range(ATTEMPTS):
            differs = differs and sampling_differs(workers)
        check(not differs, workers, "workers, own and found", differs)


def counts(*arguments):
    _, database = record(TENSORS, *arguments)
    return rows(database, "SELECT fetch_count, fetch_ns, fetch_cpu_ns, free_ns FROM batch "
                          "ORDER BY batch")


def check_fetches():
    for start in ("fork", "spawn", "forkserver"):
        found = counts("file_descriptor", start, 2)
        equal([row["fetch_count"] for row in found], [3] * BATCHES, start, "descriptors a batch")
        check(all(0 < row["fetch_cpu_ns"] and 0 < row["fetch_ns"] for row in found), start, found)
        freed = sum(bool(row["free_ns"]) for row in found)
        check(freed > BATCHES / 2, start, "batches were let go of, seen", freed)
    for arguments in (("file_system", "fork", 2), ("file_descriptor", "fork", 0)):
        found = counts(*arguments)
        equal([(row["fetch_count"], row["fetch_ns"]) for row in found], [(0, 0)] * BATCHES,
              arguments)
    # Which batch it was for is not known, and nothing is of one that came after the last.
    found = [row["fetch_count"] for row in counts("file_descriptor", "fork", 2, "pin")]
    equal(sum(found), 3 * BATCHES, "by a thread that pins", found)
    _, database = record(TENSORS, "file_descriptor", "fork", 2, "crowd")
    check(rows(database, "SELECT 1 FROM loss"), "all threads of a crowd had a place")


def freed(how):
    """How many batches the training let go of as its step began."""
    _, database = record(FREES, how)
    return sum(bool(row["free_ns"]) for row in rows(database, "SELECT free_ns FROM batch"))


def check_freeing():
    """What began late is the step's, unless the training has only lacked its core since then."""
    for how, least, most in (("works", 0, BATCHES // 10), ("lacks core", BATCHES // 2, BATCHES)):
        counts = []
        while len(counts) < ATTEMPTS and not (counts and least <= counts[-1] <= most):
            counts.append(freed(how))
        check(least <= counts[-1] <= most, how, counts, "of", BATCHES)
    left = freed("leaves")
    check(15 <= left <= 20, "epochs that were left, batches that were let go of", left, "of 20")


def main():
    need_torch()
    need_shim()
    check_fetches()
    check_freeing()
    use_stub()
    check_sampling()
    finish()


main()
