# SPDX-License-Identifier: Apache-2.0
"""Trains on images of which a few are cut short. The dataset tries those again, a little later."""
import argparse
import io
import os
import time

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

COUNT = 600


def make(folder):
    """COUNT small JPEG files, of which one in 100 lost its end."""
    os.makedirs(folder)
    rng = np.random.default_rng(1)
    for index in range(COUNT):
        content = io.BytesIO()
        Image.fromarray(rng.integers(0, 255, (64, 64, 3), dtype=np.uint8)).save(content, "JPEG")
        with open(os.path.join(folder, "%04d.jpg" % index), "wb") as file:
            file.write(content.getvalue()[:200 if index % 100 == 40 else None])


class Images(Dataset):
    def __init__(self, folder, indices):
        self.folder, self.indices = folder, indices

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, at):
        path = os.path.join(self.folder, "%04d.jpg" % self.indices[at])
        for attempt in range(5):
            try:
                return torch.from_numpy(np.array(Image.open(path).convert("RGB"), dtype="f4"))
            except OSError:
                time.sleep(0.2 * (attempt + 1))
        return self[(at + 1) % len(self)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True, help="a folder, made if it is not there")
    parser.add_argument("--fix", action="store_true", help="leave the broken files out")
    options = parser.parse_args()
    if not os.path.exists(options.data):
        make(options.data)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    images = Images(options.data, [i for i in range(COUNT) if not (options.fix and i % 100 == 40)])
    loader = DataLoader(images, batch_size=8, num_workers=2)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64 * 64 * 3, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for epoch in range(3):
        for batch in loader:
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
            time.sleep(0.025)  # what a GPU would take for a larger model
        print("epoch", epoch, flush=True)


if __name__ == "__main__":
    main()
