# SPDX-License-Identifier: Apache-2.0
"""Each epoch is left long before its end; its workers end with its iterator, at once."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

loader = DataLoader(Sleepy(400, 0.004), 4, num_workers=2)
for left in range(4, 0, -1):
    for at, _ in enumerate(Timed(loader), 1):
        step(0.012)
        if at == 30:
            if left == 1:
                finish()
            break
