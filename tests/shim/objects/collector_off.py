# SPDX-License-Identifier: Apache-2.0
"""200 epochs without Python's collector leave no more objects than without dlprof, and no classes."""
import gc
import weakref

from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __iter__(self):
        return iter([1, 2])


def local():
    class Local(list):
        pass
    print([batch.tolist() for batch in DataLoader(Local([1, 2]))])
    return weakref.ref(Local)


def epochs(count):
    for _ in range(count):
        for dataset in [1, 2], Stream():
            for batch in DataLoader(dataset):
                pass


gc.disable()
epochs(2)
classes, objects = len(object.__subclasses__()), len(gc.get_objects())
epochs(200)
print(len(object.__subclasses__()) - classes, len(gc.get_objects()) - objects < 200)
locals_ = [local() for _ in range(20)]
gc.collect()
print([reference() is None for reference in locals_])
print("end")
