# SPDX-License-Identifier: Apache-2.0
import time

from accelerate.data_loader import DataLoaderShard
from driver import drain
from samples import Samples, keep

from torch.utils.data import DataLoader


class Slow(Samples):
    def __getitem__(self, index):
        time.sleep(0.15)
        return index


for samples, workers in (Samples(), 2), (Samples(), 0), (Slow(), 0):
    loader = DataLoader(samples, batch_size=4, num_workers=workers, collate_fn=keep)
    if not isinstance(samples, Slow):
        drain(iter(DataLoaderShard(loader)).__next__)
    drain(iter(DataLoaderShard(loader, skip_batches=2)).__next__, 2)
