# SPDX-License-Identifier: Apache-2.0
"""An executor's threads ask in turn, as asyncio has it, and the training waits for each of them."""
import itertools
from concurrent.futures import ThreadPoolExecutor

from stopwatch import Sleepy, finish, step, timed
from torch.utils.data import DataLoader

threads = itertools.cycle([ThreadPoolExecutor(1) for _ in range(4)])
for _ in range(2):
    batches = timed("epoch_start", iter, DataLoader(Sleepy(200, 0.006), 4))
    while True:
        try:
            next(threads).submit(timed, "within", next, batches).result()
        except StopIteration:
            break
        step(0.012)
finish()
