# SPDX-License-Identifier: Apache-2.0
"""The training runs in a thread of its own."""
import threading

from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader


def train():
    for _ in range(2):
        for _ in Timed(DataLoader(Sleepy(200, 0.005), 4, num_workers=2)):
            step(0.008)


thread = threading.Thread(target=train)
thread.start()
thread.join()
finish()
