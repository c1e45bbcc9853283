# SPDX-License-Identifier: Apache-2.0
"""The trainings that gate.py gates. usage: gate_host.py sleep|images FACTOR [FOLDER of images]

FACTOR: how long a load takes, over what it takes by itself. `sleep`: two workers whose loads sleep
24 ms +- 20 % (the same loads in every run), steps of 10 ms. `images`: examples/train.py in batches
of 8; each sample spins for FACTOR - 1 of the CPU time that it took.
"""
import os
import random
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

COUNT = 420
LOAD_S, SPREAD, STEP_S = 0.024, 0.2, 0.010


class Sleeper(Dataset):
    def __init__(self, factor):
        chance = random.Random(1)
        self.naps = [factor * LOAD_S * max(0.2, chance.gauss(1, SPREAD)) for _ in range(COUNT)]

    def __len__(self):
        return COUNT

    def __getitem__(self, i):
        time.sleep(self.naps[i])
        return torch.zeros(4)


def sleep(factor):
    torch.manual_seed(1)
    for _ in DataLoader(Sleeper(factor), batch_size=1, shuffle=True, num_workers=2):
        time.sleep(STEP_S)


def images(factor, folder):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                                    "examples"))
    import train

    plain = train.datasets.ImageFolder.__getitem__

    def slower(self, i):
        begin = time.thread_time()
        sample = plain(self, i)
        now = time.thread_time()
        end = now + (factor - 1) * (now - begin)
        while time.thread_time() < end:
            pass
        return sample

    train.datasets.ImageFolder.__getitem__ = slower
    sys.argv = ["train.py", "--data", folder, "--batch-size", "8", "--epochs", "2"]
    train.main()


if __name__ == "__main__":
    if sys.argv[1] == "sleep":
        sleep(float(sys.argv[2]))
    else:
        images(float(sys.argv[2]), sys.argv[3])
