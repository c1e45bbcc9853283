# SPDX-License-Identifier: Apache-2.0
# paddle.io: [[12, 5, 12], [12, 5, 12], [12, 5, 12, 12], [12], [12], [12]]
from driver import drain
from samples import Samples

from paddle.io.reader import DataLoader
from paddle.io.dataloader.dataloader_iter import _DataLoaderIterMultiProcess
data = Samples()
kept = [DataLoader(data, 2) for _ in range(2)]
for loader in DataLoader(data, 2), DataLoader(data, 2, num_workers=2), \
        DataLoader(data, 2, num_workers=2, persistent_workers=True):
    kept.append(loader)
    for limit in 12, 5, 12: drain(iter(loader).__next__, limit + (limit == 12))
drain(loader().__next__)
a, b = iter(kept[0]), iter(kept[1])
drain(lambda: (next(a), next(b)))
drain(_DataLoaderIterMultiProcess(loader).__next__)
