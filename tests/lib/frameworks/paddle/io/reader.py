# SPDX-License-Identifier: Apache-2.0
from .dataloader.dataloader_iter import _DataLoaderIterMultiProcess, _DataLoaderIterSingleProcess
class BatchSampler:
    def __init__(self, count, batch_size):
        self.count, self.batch_size = count, batch_size
    def __iter__(self):
        for first in range(0, self.count, self.batch_size):
            yield list(range(first, min(first + self.batch_size, self.count)))
class DataLoader:
    def __init__(self, dataset, batch_size=1, collate_fn=list, num_workers=0, prefetch_factor=2,
                 persistent_workers=False):
        self.dataset, self.num_workers, self.collate_fn = dataset, num_workers, collate_fn
        self.dataset_kind = 0 if hasattr(dataset, "__len__") else 1
        self.batch_sampler = None if self.dataset_kind else BatchSampler(len(dataset), batch_size)
        self.prefetch_factor = prefetch_factor
        self._persistent_workers, self._iterator = persistent_workers, None
    def __iter__(self):
        if self.num_workers == 0:
            return _DataLoaderIterSingleProcess(self)
        if not self._persistent_workers:
            return _DataLoaderIterMultiProcess(self)
        if self._iterator is None:
            self._iterator = _DataLoaderIterMultiProcess(self)
        else:
            self._iterator._reset()
        return self._iterator
    def __call__(self):
        return self.__iter__()
