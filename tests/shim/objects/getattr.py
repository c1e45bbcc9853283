# SPDX-License-Identifier: Apache-2.0
"""Datasets whose __getattr__ raises another exception than AttributeError."""
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __iter__(self):
        self.count = 0
        return self

    def __next__(self):
        self.count += 1
        if self.count > 4:
            raise StopIteration
        return self.count

    def __getattr__(self, name):
        raise KeyError(name)


for workers in 0, 2:
    print([batch.tolist() for batch in DataLoader(Stream(), batch_size=2, num_workers=workers)])
print("end")
