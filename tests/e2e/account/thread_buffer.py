# SPDX-License-Identifier: Apache-2.0
"""monai's thread asks ahead."""
from monai.data.thread_buffer import ThreadBuffer
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader


class ThreadDataLoader(DataLoader):
    def __iter__(self):
        yield from ThreadBuffer(super().__iter__(), 2)


for _ in range(3):
    for _ in Timed(ThreadDataLoader(Sleepy(240, 0.006), 4, num_workers=2)):
        step(0.008)
finish(starts_unseen=True)
