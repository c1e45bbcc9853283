# SPDX-License-Identifier: Apache-2.0
"""A thread makes something else of each batch, and the training runs backward passes with that."""
import queue
import threading

import torch
from stopwatch import Sleepy, Timed, finish, step
from torch.utils.data import DataLoader


class Ahead:
    num_workers = 1

    def __iter__(self):
        self.queue = queue.Queue(3)
        threading.Thread(target=self.fill, args=(self.queue,)).start()
        return self

    def fill(self, batches):
        for batch in DataLoader(Sleepy(240, 0.003), 4):
            batches.put(batch.float())
        batches.put(None)

    def __next__(self):
        while True:
            try:
                batch = self.queue.get(timeout=0.004)
                break
            except queue.Empty:
                pass
        if batch is None:
            raise StopIteration
        return batch


def train():
    weight = torch.ones(4, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.001)
    for _ in range(3):
        for batch in Timed(Ahead()):
            (weight * batch).sum().backward()
            step(0.006)
            optimizer.step()


torch.ones(1, requires_grad=True).sum().backward()  # which starts a thread of PyTorch's
thread = threading.Thread(target=train)
thread.start()
thread.join()
finish(starts_unseen=True)
