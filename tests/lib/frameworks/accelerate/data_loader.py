# SPDX-License-Identifier: Apache-2.0
import time
class DataLoaderDispatcher:                 # one rank asks, and all wait for what it hands out
    def __init__(self, base_dataloader, receive_s=0.002):
        self.base_dataloader, self.receive_s = base_dataloader, receive_s
    def __iter__(self):
        for batch in self.base_dataloader:
            time.sleep(self.receive_s)
            yield batch
