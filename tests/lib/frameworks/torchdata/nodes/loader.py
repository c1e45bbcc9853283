# SPDX-License-Identifier: Apache-2.0
import time
class BaseNode:
    def __iter__(self):
        return self
    def __next__(self):
        return self.next()
class LoaderIterator(BaseNode):
    def __init__(self, loader):
        self.loader, self._cached_item, self.at = loader, None, 0
    def has_next(self):
        if self._cached_item is None:
            try:
                self._cached_item = next(self)
            except StopIteration:
                pass
        return self._cached_item is not None
    def next(self):
        if self._cached_item is not None:
            item, self._cached_item = self._cached_item, None
            return item
        self.at += 1
        if self.at > self.loader.count:
            raise StopIteration
        time.sleep(0.002)
        return self.at
class Loader:
    def __init__(self, count):
        self.count = count
    def __iter__(self):
        return LoaderIterator(self)
