# SPDX-License-Identifier: Apache-2.0
"""Trains on batches with 4 samples each of 8 classes. The data are in memory, yet the model waits."""
import argparse
import random
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SAMPLES, CLASSES, BATCHES = 40000, 50, 120


class Balanced:
    """Batches of 4 samples of each of 8 classes, drawn anew for each batch."""

    def __init__(self, labels, fix):
        self.labels, self.by_class = labels.tolist(), None
        if fix:
            self.by_class = [torch.nonzero(labels == c)[:, 0].tolist() for c in range(CLASSES)]

    def __len__(self):
        return BATCHES

    def of(self, label):
        if self.by_class:
            return self.by_class[label]
        return [i for i, found in enumerate(self.labels) if found == label]

    def __iter__(self):
        for _ in range(BATCHES):
            batch = []
            for label in random.sample(range(CLASSES), 8):
                batch += random.sample(self.of(label), 4)
            yield batch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true", help="sort the samples by class once")
    options = parser.parse_args()
    torch.manual_seed(1)
    random.seed(1)
    torch.set_num_threads(1)
    labels = torch.randint(CLASSES, (SAMPLES,))
    data = TensorDataset(torch.randn(SAMPLES, 64), labels)
    loader = DataLoader(data, batch_sampler=Balanced(labels, options.fix), num_workers=2)
    model = nn.Linear(64, CLASSES)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        for images, target in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), target).backward()
            optimizer.step()
            time.sleep(0.015)  # what a GPU would take for a larger model
        print("epoch", epoch, flush=True)


if __name__ == "__main__":
    main()
