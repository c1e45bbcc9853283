# SPDX-License-Identifier: Apache-2.0
import time
from tensorflow.python.data.ops import iterator_ops
class NumpyIterator:
    __slots__ = ["_iterator", "_dataset"]
    def __init__(self, dataset):
        self._iterator = iter(dataset)
        self._dataset = dataset
    def __iter__(self):
        return self
    def __next__(self):
        return [next(self._iterator)]
class Dataset:
    def __init__(self, count, fails=None):
        self.count, self.fails = count, fails
    def elements(self):
        for i in range(self.count):
            time.sleep(0.002)
            yield i
            if i == self.fails:
                raise ValueError("no element %d" % i)
    def __iter__(self):
        return iterator_ops.OwnedIterator(self)
    def as_numpy_iterator(self):
        return NumpyIterator(self)
