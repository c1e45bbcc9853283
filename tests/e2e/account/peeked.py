# SPDX-License-Identifier: Apache-2.0
"""An iterator that is made, and one that is asked once, within the training count; after the last
step nothing does."""
import time

from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

for _ in range(2):
    for _ in Timed(DataLoader(Sleepy(120, 0.005), 4, num_workers=2)):
        step(0.012)
    next(iter(Timed(DataLoader(Sleepy(4, 0.05), 4))))
    step(0.1)
    iter(Timed(DataLoader(Sleepy(4, 0.05), 4, num_workers=4)))
for _ in Timed(DataLoader(Sleepy(40, 0.005), 4)):
    step(0.012)
finish()
late = iter(DataLoader(Sleepy(4, "a while"), 4, num_workers=4))
time.sleep(0.5)
try:
    next(late)
except TypeError:
    pass
