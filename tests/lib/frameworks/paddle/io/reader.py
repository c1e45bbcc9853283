# SPDX-License-Identifier: Apache-2.0
from .dataloader.dataloader_iter import _DataLoaderIterMultiProcess, _DataLoaderIterSingleProcess
class DataLoader:
    def __init__(self, dataset, num_workers=0, persistent_workers=False):
        self.dataset, self.num_workers = dataset, num_workers
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
