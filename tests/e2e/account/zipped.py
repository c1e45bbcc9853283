# SPDX-License-Identifier: Apache-2.0
"""A loop over two loaders waits for both."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

left = DataLoader(Sleepy(240, 0.006), 4, num_workers=1)
right = DataLoader(Sleepy(240, 0.008), 4, num_workers=1)
for _ in zip(Timed(left), Timed(right)):
    step(0.006)
finish()
