# SPDX-License-Identifier: Apache-2.0
import time
class DataLoaderDispatcher:                 # one rank takes the batches; the other ranks wait until it sends them
    def __init__(self, base_dataloader, receive_s=0.002):
        self.base_dataloader, self.receive_s = base_dataloader, receive_s
    def __iter__(self):
        for batch in self.base_dataloader:
            time.sleep(self.receive_s)
            yield batch
class DataLoaderStateMixin:
    def begin(self):
        pass
class DataLoaderShard(DataLoaderStateMixin):  # skips the first batches, as in a resumed training
    def __init__(self, base_dataloader, skip_batches=0):
        self.base_dataloader, self.skip_batches = base_dataloader, skip_batches
    def __iter__(self):
        self.begin()
        for index, batch in enumerate(self.base_dataloader.__iter__()):
            if index >= self.skip_batches:
                yield batch
