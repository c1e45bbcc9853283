# SPDX-License-Identifier: Apache-2.0
import queue, threading
class BackgroundGenerator(threading.Thread):
    def __init__(self, generator, max_prefetch=1):
        super().__init__(daemon=True)
        self.queue, self.generator = queue.Queue(max_prefetch), generator
        self.start()
    def run(self):
        try:
            for item in self.generator:
                self.queue.put((item, None))
            self.queue.put((None, StopIteration()))
        except Exception as error:
            self.queue.put((None, error))
    def next(self):
        item, error = self.queue.get()
        if error:
            raise error
        return item
    __next__ = next
    def __iter__(self):
        return self
