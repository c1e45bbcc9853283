# SPDX-License-Identifier: Apache-2.0
"""A training to be measured. usage: training_host.py WORK WORKERS EPOCHS IMAGES FOLDER

WORK: the example's training of IMAGES of the FOLDER (example); a ResNet-18 on crops of 224 pixels
(resnet18); their loading alone (loading); batches of nothing, as many as IMAGES (nothing).
"""
import argparse
import os
import sys

import torch
from torch.utils.data import DataLoader, Dataset, Subset
from torchvision import datasets, models, transforms

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import train as example  # noqa: E402


class Nothing(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index


def shuffled(images, count):
    chosen = torch.randperm(len(images))[:count].tolist()
    return Subset(images, chosen)


def crops():
    return transforms.Compose([
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ])


def main():
    work, workers, epochs, count, folder = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    if work == "nothing":
        loader = DataLoader(Nothing(count), batch_size=None, num_workers=workers)
    elif work == "example":
        loader = example.make_loader(argparse.Namespace(data=folder, batch_size=32,
                                                        workers=workers))
        loader = DataLoader(shuffled(loader.dataset, count), batch_size=32, shuffle=True,
                            num_workers=workers)
    else:
        loader = DataLoader(shuffled(datasets.ImageFolder(folder, crops()), count), batch_size=32,
                            shuffle=True, num_workers=workers)
    model = {"example": example.make_model,
             "resnet18": lambda: models.resnet18(num_classes=10)}.get(work, lambda: None)()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9) if model else None
    for _ in range(epochs):
        if model:
            example.train(model, loader, optimizer)
        else:
            for _ in loader:
                pass


main()
