# SPDX-License-Identifier: Apache-2.0
"""A loader whose property `dataset` returns a new object each time."""
from torch.utils.data import DataLoader, Subset


class Fresh(DataLoader):
    @property
    def dataset(self):
        return Subset(self.__dict__["whole"], range(8))

    @dataset.setter
    def dataset(self, whole):
        self.__dict__["whole"] = whole


for epoch in range(50):
    loader = Fresh(list(range(8)), batch_size=2)
    print([batch.tolist() for batch in loader])
    rest = [bytearray(200 + size) for size in range(50)]
print("end")
