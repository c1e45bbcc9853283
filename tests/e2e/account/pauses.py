# SPDX-License-Identifier: Apache-2.0
"""What happens between two epochs is step: a checkpoint, say."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

loader = DataLoader(Sleepy(80, 0.004), 4, num_workers=1)
for _ in range(3):
    for _ in Timed(loader):
        step(0.006)
    step(0.4)
finish()
