# SPDX-License-Identifier: Apache-2.0
from grain._src.python.dataset import dataset
class DataLoaderIterator:
    def __init__(self, data_loader):
        self._data_loader = data_loader
        self._iterator = data_loader.pipeline()
    def __iter__(self):
        return self
    def __next__(self):
        return next(self._iterator)
class DataLoader:
    def __init__(self, count):
        self.count = count
    def pipeline(self):
        return dataset.Prefetch(dataset.Batch(dataset.Source(self.count), 4))
    def __iter__(self):
        return DataLoaderIterator(self)
