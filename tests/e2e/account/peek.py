# SPDX-License-Identifier: Apache-2.0
"""A first batch is asked for to know its shape; that is where the training begins."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

loader = DataLoader(Sleepy(400, 0.004), 4, num_workers=2)
next(iter(Timed(loader)))
step(0.2)
for _ in Timed(loader):
    step(0.012)
finish()
