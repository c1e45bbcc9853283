# SPDX-License-Identifier: Apache-2.0
# DLPROF_BATCH_FN=__main__:Ahead.__next__
"""The user's own loader has a thread that asks a DataLoader, whose workers the training starts."""
import queue
import threading

from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader


class Ahead:
    num_workers = 1

    def __iter__(self):
        self.queue, inner = queue.Queue(2), iter(DataLoader(Sleepy(240, 0.006), 12, num_workers=2))
        threading.Thread(target=self.fill, args=(inner,)).start()
        return self

    def fill(self, inner):
        for batch in inner:
            self.queue.put([batch])
        self.queue.put(None)

    def __next__(self):
        batch = self.queue.get()
        if batch is None:
            raise StopIteration
        return batch


for _ in range(6):
    for _ in Timed(Ahead()):
        step(0.02)
finish(is_opaque=True)
