# SPDX-License-Identifier: Apache-2.0
import queue, threading
class ThreadBuffer:
    def __init__(self, src, buffer_size=1, timeout=0.01):
        self.src, self.buffer, self.timeout = src, queue.Queue(buffer_size), timeout
        self.thread = None
    def enqueue_values(self):
        for value in self.src:
            while self.thread:
                try:
                    self.buffer.put(value, timeout=self.timeout)
                    break
                except queue.Full:
                    pass
            if not self.thread:
                return
    def __iter__(self):
        self.thread = threading.Thread(target=self.enqueue_values, daemon=True)
        self.thread.start()
        try:
            while self.thread.is_alive() or not self.buffer.empty():
                try:
                    yield self.buffer.get(timeout=self.timeout)
                except queue.Empty:
                    pass
        finally:
            thread, self.thread = self.thread, None
            thread.join()
