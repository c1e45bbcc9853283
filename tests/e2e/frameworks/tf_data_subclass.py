# SPDX-License-Identifier: Apache-2.0
# tf.data: [[11]]
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

from tensorflow.python.data.ops.iterator_ops import OwnedIterator
class Mine(OwnedIterator):
    def __next__(self):
        return super().__next__(), super().__next__
import inspect, pickle
print(len(inspect.signature(OwnedIterator.__next__).parameters) > 0, Mine.__mro__[1].__name__)
drain(Mine(Dataset(11)).__next__)
