# SPDX-License-Identifier: Apache-2.0
from tensorflow.python.data.ops import dataset_ops, iterator_ops
class OwnedMultiDeviceIterator:
    def __init__(self, dataset=None, devices=None, components=None):
        if dataset is None:
            self._device_iterators = components
            return
        self.resource = iterator_ops.create()
        self._device_iterators = [iter(dataset_ops.Dataset(dataset.count)) for _ in devices]
