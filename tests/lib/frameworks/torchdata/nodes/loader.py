# SPDX-License-Identifier: Apache-2.0
import time
class BaseNode:
    def __iter__(self):
        return self
    def __next__(self):
        return self.next()
class LoaderIterator(BaseNode):
    def __init__(self, loader):
        self.loader = loader
    def reset(self, state=None):
        time.sleep(self.loader.reset_s)
        self._cached_item, self.at = None, state or 0
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
    def __init__(self, count, reset_s=0):
        self.count, self.reset_s = count, reset_s
        self._it = self._next_iter_state_dict = None
    def load_state_dict(self, state):
        self._next_iter_state_dict = state
    def __iter__(self):
        self._it = self._it or LoaderIterator(self)
        state, self._next_iter_state_dict = self._next_iter_state_dict, None
        self._it.reset(state)
        if state is not None and not self._it.has_next():
            self._it.reset()
        return self._it
