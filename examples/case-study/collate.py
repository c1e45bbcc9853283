# SPDX-License-Identifier: Apache-2.0
"""Trains on arrays of NumPy, put together by a function of its own. Two workers cannot keep up."""
import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SHAPE = (60, 80)


class Arrays(Dataset):
    def __len__(self):
        return 3200

    def __getitem__(self, index):
        return np.full(SHAPE, index % 10, "f4")


def collate(samples):
    return torch.tensor([[list(row) for row in sample] for sample in samples])


def collate_fixed(samples):
    return torch.from_numpy(np.stack(samples))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true", help="stack the arrays, then convert once")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    loader = DataLoader(Arrays(), batch_size=32, num_workers=2,
                        collate_fn=collate_fixed if options.fix else collate)
    model = nn.Sequential(nn.Flatten(), nn.Linear(60 * 80, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for epoch in range(3):
        for images in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), images[:, 0, 0].long())
            loss.backward()
            optimizer.step()
            time.sleep(0.01)  # what a GPU would take for a larger model
        print("epoch", epoch, flush=True)


if __name__ == "__main__":
    main()
