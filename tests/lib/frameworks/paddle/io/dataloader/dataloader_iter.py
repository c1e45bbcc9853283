# SPDX-License-Identifier: Apache-2.0
import time
class _DataLoaderIterBase:                  # knows the dataset, but not its loader
    def __init__(self, loader):
        self._dataset = loader.dataset
        self._reset()
    def _reset(self):
        self.elements = iter(self._dataset)
    def __iter__(self):
        return self
class _DataLoaderIterSingleProcess(_DataLoaderIterBase):
    def __next__(self):
        time.sleep(0.002)
        return next(self.elements)
class _DataLoaderIterMultiProcess(_DataLoaderIterBase):
    def __next__(self):
        time.sleep(0.002)
        return next(self.elements)
