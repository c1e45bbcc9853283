# SPDX-License-Identifier: Apache-2.0
"""Trains on a folder of images, cropped to 224 pixels: a ResNet-18, or nothing but the loading.

usage: training_host.py FOLDER MODEL COUNT WORKERS; MODEL: resnet18 or none
"""
import sys

import torch
from torch.utils.data import DataLoader, Subset
from torchvision import datasets, models, transforms

torch.manual_seed(1)
torch.set_num_threads(1)
transform = transforms.Compose([
    transforms.RandomResizedCrop(224),
    transforms.RandomHorizontalFlip(),
    transforms.ToTensor(),
    transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
])
images = datasets.ImageFolder(sys.argv[1], transform)
count = min(int(sys.argv[3]), len(images))
loader = DataLoader(Subset(images, torch.randperm(len(images))[:count].tolist()), batch_size=32,
                    shuffle=True, num_workers=int(sys.argv[4]))
model = models.resnet18(num_classes=10) if sys.argv[2] == "resnet18" else None
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9) if model else None
for inputs, labels in loader:
    if model:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
