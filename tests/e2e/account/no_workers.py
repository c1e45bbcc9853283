# SPDX-License-Identifier: Apache-2.0
"""Without workers the load itself is the wait."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

for _ in range(2):
    for _ in Timed(DataLoader(Sleepy(240, 0.002), 4)):
        step(0.008)
finish()
