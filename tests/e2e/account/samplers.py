# SPDX-License-Identifier: Apache-2.0
"""Training and validation over one dataset, by a sampler each: two loaders."""
from stopwatch import Timed, finish, step
from torch.utils.data import DataLoader, SubsetRandomSampler
import time


class Samples:
    def __len__(self):
        return 240

    def __getitem__(self, index):
        time.sleep(0.001 if index < 200 else 0.02)
        return index


samples = Samples()
training = DataLoader(samples, 4, sampler=SubsetRandomSampler(range(200)), num_workers=2)
validation = DataLoader(samples, 4, sampler=SubsetRandomSampler(range(200, 240)), num_workers=2)
for _ in range(2):
    for _ in Timed(training):
        step(0.012)
    for _ in Timed(validation):
        step(0.004)
finish(loaders=2)
