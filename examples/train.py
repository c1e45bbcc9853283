# SPDX-License-Identifier: Apache-2.0
"""Trains a small CNN on a folder of images: an ordinary script that knows nothing of dlprof."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


def make_loader(options):
    transform = transforms.Compose([
        transforms.RandomResizedCrop(64),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
    ])
    images = datasets.ImageFolder(options.data, transform)
    return DataLoader(images, batch_size=options.batch_size, shuffle=True,
                      num_workers=options.workers)


def make_model():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10),
    )


def train(model, loader, optimizer):
    """One epoch; the mean loss."""
    total = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True, help="a folder of images, one folder a class")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=32)
    options = parser.parse_args()

    torch.manual_seed(1)
    torch.set_num_threads(1)
    loader = make_loader(options)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(options.epochs):
        print("epoch {} loss {!r}".format(epoch, train(model, loader, optimizer)), flush=True)


if __name__ == "__main__":
    main()
