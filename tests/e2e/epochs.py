# SPDX-License-Identifier: Apache-2.0
"""What the database says of epochs: who asked, within what, when it began and when it ended."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import fakes  # noqa: E402
from dlprof_test import (PYTHON, check, databases, environment, equal, finish,  # noqa
                         need_shim, need_torch, rows, run, scratch, use_stub, wait_for_drain)

HEAD = """
import json, os, threading, time
from torch.utils.data import DataLoader
def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
class Set:
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return index
class Outer(Set):
    def __getitem__(self, index):
        return sum(int(sum(batch)) for batch in DataLoader(Set(), batch_size=4))
truth = []
def train(dataset, batch_size=2, workers=0):
    begin = now()
    iterator = iter(DataLoader(dataset, batch_size=batch_size, num_workers=workers))
    made = now()
    while True:
        asked = now()
        try:
            next(iterator)
        except StopIteration:
            break
    truth.append([threading.get_native_id(), begin, made, asked, now()])
"""
TAIL = """
print(json.dumps([os.getpid(), truth]))
"""


def record(text):
    folder = scratch()
    fakes.write(folder)
    with open(os.path.join(folder, "program.py"), "w") as file:
        file.write(HEAD + text + TAIL)
    done = run([PYTHON, "-W", "ignore", "program.py"], cwd=folder,
               env=environment(DLPROF_OUT=os.path.join(folder, "run.db"), DLPROF_QUIET=1))
    equal(done.status, 0, text, done.err[-2000:])
    for database in databases(folder):
        wait_for_drain(database)
    pid, truth = json.loads(done.out)
    return pid, truth, rows(os.path.join(folder, "run.db"),
                            "SELECT epoch.*, (SELECT pid FROM t_loader t WHERE t.loader_id = "
                            "epoch.loader_id) AS pid FROM epoch ORDER BY begin_ns")


def check_times(name, row, own):
    tid, begin, made, asked, ended = own
    equal((row["tid"], row["nested"]), (tid, 0), name, "thread, nested")
    end = row["begin_ns"] + row["setup_ns"]
    check(begin <= row["begin_ns"] and end <= made, name, "iter()", row, own)
    stop = row["stop_begin_ns"] + row["stop_ns"]
    check(asked <= row["stop_begin_ns"] and stop <= ended, name, "the end", row, own)


SLOW = '''
class Slow:
    def __len__(self):
        return 16
    def __iter__(self):
        time.sleep(0.3)
        return iter(range(16))
'''


def check_sampling():
    """A sampler that takes 0.3 s to begin does so in iter() if there are workers, else in next()."""
    text = SLOW + '''
for workers, stays in (2, False), (2, True), (0, False):
    loader = DataLoader(list(range(16)), batch_size=2, sampler=Slow(), num_workers=workers,
                        persistent_workers=stays)
    for epoch in range(3):
        for batch in loader: time.sleep(0.001)
'''
    _, _, found = record(text)
    equal(len(found), 9, "sampling: epochs", found)
    for i, row in enumerate(found):
        if i < 6:
            check(row["sample_ns"] >= 300_000_000 and row["sample_ns"] <= row["setup_ns"],
                  "the sampler is a part of iter()", i, row)
            check(row["setup_ns"] - row["sample_ns"] < 250_000_000 or i % 3 == 0,
                  "the rest of iter() is no sampling", i, row)
        else:
            equal(row["sample_ns"], 0, "without workers iter() does not ask the sampler", row)
    # The class's iterator that is made without DataLoader.__iter__.
    _, _, found = record(SLOW + '''
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter as Iterator
for batch in Iterator(DataLoader(list(range(16)), batch_size=2, sampler=Slow(), num_workers=2)):
    pass
''')
    check(found[0]["sample_ns"] >= 300_000_000, "sampling without __iter__", found)


def check_left():
    """An epoch that was left ends as its workers do, and the next one is as if it had ended by itself."""
    _, truth, found = record("""
iterator = iter(DataLoader(Set(), batch_size=2, num_workers=2))
next(iterator)
begin = now()
del iterator
truth.append([begin, now()])
train(Set(), workers=2)
""")
    equal(len(found), 2, "one that was left, and the next")
    begin, ended = truth[0]
    check(begin <= found[0]["stop_begin_ns"] and
          found[0]["stop_begin_ns"] + found[0]["stop_ns"] <= ended, "left", found[0], truth[0])
    check_times("after one that was left", found[1], truth[1])


def main():
    need_torch()
    need_shim()
    pid, truth, found = record("for workers in 0, 2: train(Set(), workers=workers)")
    equal(len(found), 2, "epochs")
    for row, own in zip(found, truth):
        check_times("in turn", row, own)
    # Starting and ending workers takes what it takes.
    check(found[1]["setup_ns"] > found[0]["setup_ns"], "workers are started in iter()", found)
    check(found[1]["stop_ns"] > found[0]["stop_ns"], "workers are ended in the last next()", found)
    check_left()
    use_stub()
    pid, truth, found = record("""
thread = threading.Thread(target=train, args=(Set(),))
thread.start()
thread.join()
train(Set(), 4)
""")
    equal(len(found), 2, "a thread's, and the main one's")
    for row, own in zip(found, truth):
        check_times("a thread's, and the main one's", row, own)
    check(found[0]["tid"] != pid and found[1]["tid"] == pid, "two threads", found)
    for workers in 0, 1:
        pid, truth, found = record("train(Outer(), 4, {})".format(workers))
        equal(len(found), 1 + 8, "one within another", workers)
        check_times("outer", found[0], truth[0])
        equal([row["nested"] for row in found[1:]], [1] * 8, "inner", workers)
        equal({row["pid"] == pid for row in found[1:]}, {not workers}, "inner: process", workers)
    # As fastai does: nobody calls DataLoader.__iter__.
    pid, truth, found = record("""
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter as Iterator
class DataLoader(DataLoader):
    def __iter__(self):
        return Iterator(self)
for _ in range(2): train(Set(), workers=2)
""")
    for row, own in zip(found, truth):
        check_times("without __iter__", row, own)
        check(row["setup_ns"] > 0.5 * (own[2] - own[1]), "without __iter__: workers", row, own)
    check_sampling()
    # Of another framework's loader only that iter() took so long is known.
    pid, truth, found = record("""
from paddle.io.reader import DataLoader
class Slow:
    def __iter__(self):
        time.sleep(0.03)
        return iter([[0], [1], [2], [3]])
class DataLoader(DataLoader):
    def __init__(self, dataset, batch_size, num_workers):
        super().__init__(dataset, num_workers=num_workers)
        self.batch_sampler = Slow()
train(Set())
""")
    check_times("paddle", found[0], truth[0])
    check(found[0]["setup_ns"] >= 30_000_000, "paddle: iter()", found)
    finish()


main()
