# SPDX-License-Identifier: Apache-2.0
"""The next batch is asked for before the step of this one, as accelerate does."""
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader

batches = iter(Timed(DataLoader(Sleepy(400, 0.006), 4, num_workers=1)))
ahead = next(batches)
while ahead is not None:
    batch, ahead = ahead, next(batches, None)
    step(0.015)
finish()
