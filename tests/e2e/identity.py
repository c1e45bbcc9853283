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
loader = DataLoader(train)
before = set(vars(loader))
drain(loader)
print("added", sorted(set(vars(loader)) - before))
print("pickles", len(pickle.loads(pickle.dumps(loader))))
print("iterates", list(DataLoader(Numbers(3)))[2].item())
'''

sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, rows, run, scratch, wait_for_drain)

COUNTS = """SELECT loader_id, batch_size, epoch, count(*) AS batches
            FROM batch JOIN loader USING (loader_id) GROUP BY 1, 3 ORDER BY 1, 3"""


def main():
    need_torch()
    need_shim()
    folder = scratch()
    program, database = os.path.join(folder, "program.py"), os.path.join(folder, "run.db")
    with open(program, "w") as file:
        file.write(PROGRAM)
    plain = run([PYTHON, "-W", "ignore", program], env=environment(False))
    done = run([PYTHON, "-W", "ignore", program], env=environment(DLPROF_OUT=database))
    equal(done.status, 0, "exit status", done.err[-2000:])
    found = done.out.replace("added ['_dlprof_loader']", "added []")
    equal(found, plain.out, "output")
    wait_for_drain(database)

    table = [tuple(row.values()) for row in rows(database, COUNTS)]
    equal([row[1:] for row in table[:6]],
          [(2, epoch, 15) for epoch in range(3)] + [(2, epoch, 5) for epoch in range(3)],
          "made anew over the same dataset: one loader each")
    equal(len({row[0] for row in table[:6]}), 2, "loaders")
    equal([row[1:] for row in table[6:10]], [(3, 0, 10), (3, 1, 10)] * 2, "a copy is another")
    equal([row[1:] for row in table[10:12]], [(5, 0, 6)] * 2, "two at a time are two")
    equal(len({row[0] for row in table[6:12]}), 4, "loaders")
    equal(table[12][1:], (7, 0, 1), "left half-way")
    equal([row[1:] for row in table[13:15]], [(2, 0, 3)] * 2, "up to the bad sample")
    losses = rows(database, "SELECT * FROM loss")
    check(not losses, "lost", losses)
    finish()


main()
