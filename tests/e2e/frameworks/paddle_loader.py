# SPDX-License-Identifier: Apache-2.0
# paddle.io: [[12, 5, 12], [12, 5, 12], [12, 5, 12, 12], [12], [12], [12]]
from driver import drain

from paddle.io.reader import DataLoader
from paddle.io.dataloader.dataloader_iter import _DataLoaderIterMultiProcess
data = range(12)
kept = [DataLoader(data) for _ in range(2)]
for loader in DataLoader(data), DataLoader(data, 2), DataLoader(data, 2, True):
    kept.append(loader)
    for limit in 12, 5, 12: drain(iter(loader).__next__, limit + (limit == 12))
drain(loader().__next__)
a, b = iter(kept[0]), iter(kept[1])
drain(lambda: (next(a), next(b)))
drain(_DataLoaderIterMultiProcess(loader).__next__)
