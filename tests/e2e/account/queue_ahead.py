# SPDX-License-Identifier: Apache-2.0
"""A thread asks a DataLoader ahead of the training, which gets the batches from a queue."""
import queue
import threading

from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader


class Ahead:
    num_workers = 2

    def __iter__(self):
        self.queue = queue.Queue(2)
        threading.Thread(target=self.fill, args=(self.queue,)).start()
        return self

    def fill(self, batches):
        for number, batch in enumerate(DataLoader(Sleepy(240, 0.006), 4, num_workers=2)):
            batches.put((number, batch))
        batches.put(None)

    def __next__(self):
        batch = self.queue.get()
        if batch is None:
            raise StopIteration
        return batch


def train():
    for _ in range(3):
        for _ in Timed(Ahead()):
            step(0.008)


if __name__ == "__main__":
    train()
    finish(starts_unseen=True)
