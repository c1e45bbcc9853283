# SPDX-License-Identifier: Apache-2.0
import time
class DataIter:
    def __iter__(self):
        return self
    def reset(self):
        self.at = 0
    def next(self):
        if self.iter_next():
            return self.at
        raise StopIteration
    def __next__(self):
        return self.next()
class NDArrayIter(DataIter):
    def __init__(self, count):
        self.at, self.count = 0, count
    def iter_next(self):
        time.sleep(0.002)
        self.at += 1
        return self.at <= self.count
