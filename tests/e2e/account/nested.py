# SPDX-License-Identifier: Apache-2.0
"""A loader that a dataset asks counts in the wait for the outer one."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

parts = DataLoader(Sleepy(4, 0.003), 2)


class Outer:
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return sum(int(sum(part)) for part in parts)


for _ in Timed(DataLoader(Outer(), 1)):
    step(0.008)
finish()
