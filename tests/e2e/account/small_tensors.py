# SPDX-License-Identifier: Apache-2.0
"""Batches of many small tensors: ready long before they are in hand, and slow to let go of."""
import torch
from stopwatch import Timed, body, finish, step
from torch.utils.data import DataLoader


class Objects:
    def __len__(self):
        return 480

    def __getitem__(self, index):
        return [torch.zeros(8) for _ in range(30)]


for _ in Timed(DataLoader(Objects(), 8, collate_fn=list, num_workers=2)):
    body()
    step(0.01)
finish()
