# SPDX-License-Identifier: Apache-2.0
"""An executor's thread asks for the next batch while the training works with the last one."""
from concurrent.futures import ThreadPoolExecutor

from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

pool = ThreadPoolExecutor(1)


class Ahead:
    num_workers = 2

    def __iter__(self):
        self.batches = iter(DataLoader(Sleepy(240, 0.008), 4, num_workers=2))
        self.future = pool.submit(next, self.batches)
        return self

    def __next__(self):
        batch = self.future.result()
        self.future = pool.submit(next, self.batches)
        return batch


for _ in range(3):
    for _ in Timed(Ahead()):
        step(0.012)
finish(starts_unseen=True)
