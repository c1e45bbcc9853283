# SPDX-License-Identifier: Apache-2.0
import queue, threading
class ThreadBuffer:
    def __init__(self, src, buffer_size=1):
        self.src, self.buffer, self.stopped = src, queue.Queue(buffer_size), False
    def enqueue_values(self):
        for value in self.src:
            while not self.stopped:
                try:
                    self.buffer.put([value], timeout=0.01)
                    break
                except queue.Full:
                    pass
            if self.stopped:
                return
        self.buffer.put(None)
    def __iter__(self):
        thread = threading.Thread(target=self.enqueue_values, daemon=True)
        thread.start()
        try:
            for value, in iter(self.buffer.get, None):
                yield value
        finally:
            self.stopped = True
            thread.join()
