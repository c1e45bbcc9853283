# SPDX-License-Identifier: Apache-2.0
"""Of a wait, what passes until the worker has the batch is not ready, and the rest is receiving."""
import time

import torch
from stopwatch import Timed, finish, step
from torch.utils.data import DataLoader


class Objects:
    def __len__(self):
        return 240

    def __getitem__(self, index):
        time.sleep(0.01)
        return [torch.zeros(8) for _ in range(4)]


def collate(samples):
    return samples, time.perf_counter()


loader = DataLoader(Objects(), 4, collate_fn=collate, num_workers=2)
for _ in Timed(loader, lambda batch: batch[1]):
    step(0.008)
finish(tells_parts=True)
