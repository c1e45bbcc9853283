# SPDX-License-Identifier: Apache-2.0
class DistributedIteratorBase:
    def __init__(self, iterators):
        self._iterators = iterators
    def __iter__(self):
        return self
    def __next__(self):                     # returns one element per replica
        return [next(iterator) for iterator in self._iterators]
class DistributedIterator(DistributedIteratorBase):
    pass
