# SPDX-License-Identifier: Apache-2.0
"""A next() that raises was waited for, too: the training goes on with the next batch or epoch."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader


class Broken(Sleepy):
    def __getitem__(self, index):
        if index % 40 == 3:
            super().__getitem__(index)
            raise ValueError(index)
        return super().__getitem__(index)


for workers in 0, 2, 0:
    batches = iter(Timed(DataLoader(Broken(280, 0.01), 4, num_workers=workers)))
    while True:
        try:
            next(batches)
        except ValueError:
            continue
        except StopIteration:
            break
        step(0.012)
finish()
