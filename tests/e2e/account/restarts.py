# SPDX-License-Identifier: Apache-2.0
"""Short epochs, whose workers start and end with them."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

loader = DataLoader(Sleepy(20, 0.004), 4, num_workers=2)
for _ in range(15):
    for _ in Timed(loader):
        step(0.015)
finish()
