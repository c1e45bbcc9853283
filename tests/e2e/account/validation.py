# SPDX-License-Identifier: Apache-2.0
"""A validation in the midst of an epoch: its waits are no step of the training's."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

samples, unseen = Sleepy(320, 0.003), Sleepy(64, 0.008)
for at, _ in enumerate(Timed(DataLoader(samples, 4, num_workers=2))):
    step(0.012)
    if at % 30 == 20:
        for _ in Timed(DataLoader(unseen, 8, num_workers=1)):
            step(0.008)
finish()
