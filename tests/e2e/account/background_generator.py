# SPDX-License-Identifier: Apache-2.0
"""prefetch_generator's thread asks ahead."""
from prefetch_generator import BackgroundGenerator
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader


class DataLoaderX(DataLoader):
    def __iter__(self):
        return BackgroundGenerator(super().__iter__(), 2)


for _ in range(3):
    for _ in Timed(DataLoaderX(Sleepy(240, 0.006), 4, num_workers=2)):
        step(0.008)
finish(starts_unseen=True)
