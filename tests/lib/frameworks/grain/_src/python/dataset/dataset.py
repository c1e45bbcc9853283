# SPDX-License-Identifier: Apache-2.0
import time
class DatasetIterator:
    def __init__(self, parents=()):
        self._parents = parents
    def __iter__(self):
        return self
class Source(DatasetIterator):
    def __init__(self, count):
        super().__init__()
        self.elements = iter(range(count))
    def __next__(self):
        time.sleep(0.0005)
        return next(self.elements)
class Batch(DatasetIterator):
    def __init__(self, parent, size):
        super().__init__((parent,))
        self.size = size
    def __next__(self):
        values = []
        try:
            for _ in range(self.size):
                values.append(next(self._parents[0]))
        except StopIteration:
            if not values:
                raise
        return values
class Prefetch(DatasetIterator):            # a thread asks the parent iterator
    def __init__(self, parent):
        super().__init__((parent,))
        self.thread = None
    def __next__(self):
        import queue, threading
        if not self.thread:
            self.queue = queue.Queue(2)
            def fill():
                for value in self._parents[0]:
                    self.queue.put(value)
                self.queue.put(None)
            self.thread = threading.Thread(target=fill)
            self.thread.start()
        value = self.queue.get()
        if value is None:
            self.thread.join()
            raise StopIteration
        return value
