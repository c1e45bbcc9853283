# SPDX-License-Identifier: Apache-2.0
"""An executor's threads ask in turn, as asyncio has it, and the training waits for each of them."""
import itertools
from concurrent.futures import ThreadPoolExecutor

from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

threads = itertools.cycle([ThreadPoolExecutor(1) for _ in range(4)])


class Asked:
    def __iter__(self):
        self.batches = iter(DataLoader(Sleepy(200, 0.006), 4))
        return self

    def __next__(self):
        return next(threads).submit(next, self.batches).result()


for _ in range(2):
    for _ in Timed(Asked()):
        step(0.012)
finish(starts_unseen=True)
