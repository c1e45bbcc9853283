# SPDX-License-Identifier: Apache-2.0
"""A training in a thread of its own makes the iterators that prefetch_generator's threads ask."""
import threading

from prefetch_generator import BackgroundGenerator
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader


class DataLoaderX(DataLoader):
    def __iter__(self):
        return BackgroundGenerator(super().__iter__(), 2)


def train():
    for _ in range(3):
        for _ in Timed(DataLoaderX(Sleepy(240, 0.006), 4, num_workers=2)):
            step(0.008)


thread = threading.Thread(target=train)
thread.start()
thread.join()
finish()
