# SPDX-License-Identifier: Apache-2.0
"""Outside of loads torchvision's Compose.__call__ is a function, as torch.compile and inspect need it."""
import inspect
import traceback

from torch.utils.data import DataLoader
from torchvision.transforms import Compose


class Composed:
    def __init__(self, *transforms):
        self.compose = Compose(list(transforms))

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.compose(index)


class Nested(Composed):
    def __getitem__(self, index):
        return [self.compose(part) for part in DataLoader([1, 2])]


def look():
    print(type(Compose.__call__), Compose.__call__.__qualname__,
          inspect.signature(Compose.__call__), len(inspect.getsource(Compose.__call__)))


def double(number):
    return number * 2


def fail(number):
    raise ValueError(number)


look()
for dataset in Composed(double), Nested(double), Composed(double, fail):
    for workers in 0, 1:
        try:
            print(list(DataLoader(dataset, num_workers=workers)))
        except ValueError as error:
            print(type(error), type(error.__context__))
            for frame in traceback.walk_tb(error.__traceback__):
                print(frame[0].f_code.co_name)
                if frame[0].f_code.co_name == "__call__":
                    print(repr(frame[0].f_locals["self"]).count("function"))
        look()

own = Compose.__call__


def called(self, number):
    print("called")
    return own(self, number)


Compose.__call__ = called
print(list(DataLoader(Composed(double))))
look()
print("end")
