# SPDX-License-Identifier: Apache-2.0
import time
class _MultiWorkerIter:
    def __init__(self, count, data_loader=None):
        self._data_loader = data_loader
        self.elements = iter(range(count))
    def __iter__(self):
        return self
    def next(self):
        return self.__next__()
    def __next__(self):
        time.sleep(0.002)
        return next(self.elements)
class DataLoader:
    def __init__(self, count, num_workers=0):
        self.count, self.num_workers = count, num_workers
    def __iter__(self):
        def same_process_iter():
            for i in range(self.count):
                time.sleep(0.002)
                yield i
        source = _MultiWorkerIter(self.count, self) if self.num_workers else same_process_iter()
        for item in source:
            yield item
