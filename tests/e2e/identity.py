# SPDX-License-Identifier: Apache-2.0
"""What is one loader and what is another; an error in a loop; objects that stay as they were."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = '''
import copy, multiprocessing, pickle, sys
multiprocessing.set_start_method("fork")
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __init__(self, count, bad=None):
        self.count, self.bad = count, bad
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        if index == self.bad:
            raise ValueError("bad sample %d" % index)
        return index

def drain(iterable):
    for _ in iterable:
        pass

train, validation = Numbers(30), Numbers(10)
for _ in range(3):                                   # made anew every epoch
    drain(DataLoader(train, batch_size=2, num_workers=2))
    drain(DataLoader(validation, batch_size=2, num_workers=2))
one = DataLoader(train, batch_size=3)
two = copy.copy(one)                                 # copied with its attributes
for _ in range(2):
    drain(zip(one, two))
drain(zip(DataLoader(train, batch_size=5), DataLoader(train, batch_size=5)))
for _ in DataLoader(train, batch_size=7):            # left half-way
    break
for workers in (0, 1):                               # two would arrive in any order
    try:
        drain(DataLoader(Numbers(10, bad=6), batch_size=2, num_workers=workers))
    except ValueError:
        import traceback
        print(traceback.format_exc())                # no frame of ours in it
for _ in range(2):                                   # over one and the same dataset
    drain(DataLoader(validation, batch_size=4, shuffle=True))
    drain(DataLoader(validation, batch_size=4))
class Others(Numbers):
    pass
gone = Numbers(12)
drain(DataLoader(gone, batch_size=6))
at, kept = id(gone), []
del gone
while len(kept) < 1000 and id(kept and kept[-1]) != at:
    kept.append(Others(12))
drain(DataLoader(kept[-1], batch_size=6))            # where another dataset lay
loader = DataLoader(train)
before = set(vars(loader))
drain(loader)
print("added", sorted(set(vars(loader)) - before))
print("pickles", len(pickle.loads(pickle.dumps(loader))))
print("iterates", list(DataLoader(Numbers(3)))[2].item())
'''

# As accelerate and fastai do: the workers are there before anybody calls DataLoader.__iter__.
MADE = PROGRAM[:PROGRAM.index("train, validation")] + '''
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter as Iterator
loader = DataLoader(Numbers(24), batch_size=4, num_workers=2)
for _ in range(2):
    drain(Iterator(loader))
held = Iterator(loader)
del loader                                           # held by nothing of ours
print(next(held).tolist())
'''

sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (PYTHON, check, databases, environment, equal, finish,  # noqa
                         need_shim, need_torch, rows, run, scratch, wait_for_drain)

COUNTS = """SELECT loader_id, batch_size, epoch, count(*) AS batches
            FROM batch JOIN loader USING (loader_id) GROUP BY 1, 3 ORDER BY 1, 3"""


def record(text):
    """The table of its loaders and epochs, and the database of its only run."""
    folder = scratch()
    program, database = os.path.join(folder, "program.py"), os.path.join(folder, "%p.db")
    with open(program, "w") as file:
        file.write(text)
    plain = run([PYTHON, "-W", "ignore", program], env=environment(False))
    done = run([PYTHON, "-W", "ignore", program], env=environment(DLPROF_OUT=database))
    equal(done.status, 0, "exit status", done.err[-2000:])
    found = done.out.replace("added ['_dlprof_loader']", "added []")
    equal(found, plain.out, "output")
    for database in databases(folder):
        wait_for_drain(database)
    equal(len(databases(folder)), 1, "runs")
    return [tuple(row.values()) for row in rows(database, COUNTS)], database


def main():
    need_torch()
    need_shim()
    table, database = record(MADE)
    equal([row[1:] for row in table], [(4, 0, 6), (4, 1, 6), (None, 0, 1)], "made by others")
    equal(len({row[0] for row in table}), 2, "made by others, loaders")
    equal(rows(database, "SELECT 1 FROM batch WHERE load_ns IS NULL"), [], "made by others, loads")
    table, database = record(PROGRAM)
    equal([row[1:] for row in table[:6]],
          [(2, epoch, 15) for epoch in range(3)] + [(2, epoch, 5) for epoch in range(3)],
          "made anew over the same dataset: one loader each")
    equal(len({row[0] for row in table[:6]}), 2, "loaders")
    equal([row[1:] for row in table[6:10]], [(3, 0, 10), (3, 1, 10)] * 2, "a copy is another")
    equal([row[1:] for row in table[10:12]], [(5, 0, 6)] * 2, "two at a time are two")
    equal(len({row[0] for row in table[6:12]}), 4, "loaders")
    equal(table[12][1:], (7, 0, 1), "left half-way")
    equal([row[1:] for row in table[13:15]], [(2, 0, 3)] * 2, "up to the bad sample")
    equal([row[1:] for row in table[15:19]], [(4, 0, 3), (4, 1, 3)] * 2, "shuffled or not")
    equal([row[1:] for row in table[19:21]], [(6, 0, 2)] * 2, "at the address of another")
    equal(len({row[0] for row in table[15:21]}), 4, "loaders over one dataset, or one address")
    losses = rows(database, "SELECT * FROM loss")
    check(not losses, "lost", losses)
    finish()


main()
