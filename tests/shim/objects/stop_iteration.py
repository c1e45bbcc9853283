# SPDX-License-Identifier: Apache-2.0
"""The end of a stream reaches the program: a generator's value, or an exception with its traceback."""
import traceback

from torch.utils.data import DataLoader, IterableDataset


class Enough(StopIteration):
    pass


class Generator(IterableDataset):
    def __iter__(self):
        yield 1
        return "value"


class Counter(IterableDataset):
    def __iter__(self):
        self.count = 0
        return self

    def __next__(self):
        self.count += 1
        if self.count > 2:
            raise Enough("enough", self.count)
        return self.count


for dataset in Generator(), Counter():
    for batch_size in None, 2:
        iterator = iter(DataLoader(dataset, batch_size=batch_size))
        try:
            while True:
                print(next(iterator))
        except StopIteration as error:
            print(type(error), error.args, error.value)
            for frame in traceback.extract_tb(error.__traceback__):
                print(frame.name, frame.line)
print("end")
