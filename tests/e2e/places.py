# SPDX-License-Identifier: Apache-2.0
"""Which loader it is: the place of the program where it is made, its settings and its length."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, databases, environment, equal, finish,  # noqa
                         need_shim, need_torch, rows, run, scratch, use_stub, wait_for_drain)

HEAD = """
from torch.utils.data import DataLoader, RandomSampler, SubsetRandomSampler
class Set:
    def __init__(self, count=8):
        self.count = count
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        return index
def drain(loader):
    for _ in loader:
        pass
def make(dataset, **more):
    return DataLoader(dataset, batch_size=2, **more)
"""
# name: (program, [batches of each epoch of each loader])
PROGRAMS = {
    "made anew every epoch over a fresh dataset": ("""
kept = []
for _ in range(3):
    drain(DataLoader(Set(), batch_size=2))
    kept.append(object())
""", [[4, 4, 4]]),
    "made anew while the old one is still held": ("""
data = Set()
for _ in range(3):
    loader = DataLoader(data, batch_size=2)
    drain(loader)
""", [[4, 4, 4]]),
    "made anew, and the old ones held for ever": ("""
data, kept = Set(), []
for _ in range(3):
    kept.append(DataLoader(data, batch_size=2))
    drain(kept[-1])
""", [[4, 4, 4]]),
    "made anew every epoch, and left half-way": ("""
def two(loader):
    for i, _ in enumerate(loader):
        if i:
            break
for _ in range(3):
    two(DataLoader(Set(), batch_size=2))
""", [[2, 2, 2]]),
    "two samplers over one dataset": ("""
data = Set(16)
train = DataLoader(data, batch_size=2, sampler=SubsetRandomSampler(range(8)))
val = DataLoader(data, batch_size=2, sampler=SubsetRandomSampler(range(8, 16)))
for _ in range(2):
    drain(train)
    drain(val)
""", [[4, 4], [4, 4]]),
    "two samplers over one dataset, made at one place": ("""
data = Set(16)
both = [DataLoader(data, batch_size=2, sampler=SubsetRandomSampler(part))
        for part in (range(8), range(8, 16))]
for _ in range(2):
    for loader in both:
        drain(loader)
""", [[4, 4], [4, 4]]),
    "a helper makes both": ("""
train, val = make(Set()), make(Set())
for _ in range(2):
    drain(train)
    drain(val)
""", [[4, 4], [4, 4]]),
    "a helper makes one after the other is gone": ("""
def evaluate(dataset):
    drain(make(dataset))
for _ in range(2):
    evaluate(Set())
evaluate(Set())
""", [[4], [4, 4]]),
    "a helper makes them when they are asked for the first time": ("""
cache, data = {}, {"train": Set(), "val": Set()}
def loader_of(part):
    if part not in cache:
        cache[part] = make(data[part])
    return cache[part]
for _ in range(2):
    for part in "train", "val":
        drain(loader_of(part))
""", [[4, 4], [4, 4]]),
    "a sweep over prefetch_factor": ("""
for prefetch_factor in 1, 2, 4:
    drain(DataLoader(Set(), batch_size=2, num_workers=1, prefetch_factor=prefetch_factor))
""", [[4], [4], [4]]),
    "a loader that gets another setting": ("""
loader = DataLoader(Set(), batch_size=2, num_workers=1)
for workers in 1, 2, 2:
    loader.num_workers = workers
    drain(loader)
""", [[4], [4, 4]]),
    "a dataset that grows": ("""
data = Set(4)
for _ in range(3):
    drain(DataLoader(data, batch_size=2))
    data.count += 4
""", [[2, 4, 6]]),
    "temporary datasets of other lengths": ("""
for count in 4, 8, 12:
    drain(DataLoader(Set(count), batch_size=2))
""", [[2], [4], [6]]),
}
PLACES = HEAD + """
class Own(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)     # line 18
def main():
    drain(make(Set()))
    drain(Own(Set()))
    drain(DataLoader(Set(10)))                # line 22
main()
drain(DataLoader(Set(12)))                    # line 24
"""
# Whoever counts is asked no more often, and what a sampler does when it is asked is its own affair.
ASKED = HEAD + """
class Counted(RandomSampler):
    def __len__(self):
        print("asked")
        return super().__len__()
drain(DataLoader(Set(), sampler=Counted(Set())))
drain(DataLoader(Set(), batch_sampler=[[1], [2]]))
"""
# More than are kept apart: nothing is lost.
CROWD = HEAD + """
import time
for count in range(1, 300):
    loader = DataLoader(Set(count), batch_size=1000)
    drain(loader)
    drain(loader)
    time.sleep(0.01)        # the drain may be late on a busy machine
"""
TABLE = """SELECT loader_id, epoch, count(*) AS batches FROM batch GROUP BY 1, 2 ORDER BY 1, 2"""


def record(name, text):
    folder = scratch()
    with open(os.path.join(folder, "program.py"), "w") as file:
        file.write(text)
    done = run([PYTHON, "-W", "ignore", "program.py"], cwd=folder,
               env=environment(DLPROF_OUT=os.path.join(folder, "run.db"), DLPROF_QUIET=1))
    equal((done.status, done.err), (0, ""), name, "status and stderr")
    found = databases(folder)
    if not equal(len(found), 1, name, "databases"):
        finish()
    wait_for_drain(found[0])
    return found[0], done.out


def check_torch():
    database, _ = record("places", PLACES)
    equal([row["place"] for row in rows(database, "SELECT place FROM loader ORDER BY loader_id")],
          ["program.py:14 in make", "program.py:18 in __init__", "program.py:22 in main",
           "program.py:24"], "places")
    database, _ = record("a crowd", CROWD)
    equal(rows(database, "SELECT count(*) AS n, count(DISTINCT loader_id) AS loaders FROM batch"),
          [{"n": 598, "loaders": 256}], "a crowd")
    equal(len(rows(database, "SELECT * FROM note WHERE text LIKE '%256 loaders%'")), 1, "the note")
    _, out = record("asked", ASKED)
    equal(out, "", "what a sampler of the user's is asked")


def main():
    need_torch()
    need_shim()
    check_torch()
    # Who makes a loader is the same code with the stub.
    use_stub()
    for name, (text, expected) in PROGRAMS.items():
        database, _ = record(name, HEAD + text)
        table = {}
        for row in rows(database, TABLE):
            table.setdefault(row["loader_id"], []).append(row["batches"])
        equal(sorted(table.values()), expected, name)
    finish()


main()
