# SPDX-License-Identifier: Apache-2.0
"""Workers that stay: an epoch still begins with waits that nothing can overlap."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

loader = DataLoader(Sleepy(80, 0.006), 4, num_workers=2, persistent_workers=True)
for _ in range(6):
    for _ in Timed(loader):
        step(0.015)
finish()
