# SPDX-License-Identifier: Apache-2.0
"""An endless stream of epochs that is left half-way."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

loader = DataLoader(Sleepy(60, 0.002), 4, num_workers=4)


def batches():
    while True:
        yield from Timed(loader)


for at, _ in enumerate(batches()):
    step(0.01)
    if at == 100:
        finish()  # before the workers end
        break
