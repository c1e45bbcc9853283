# SPDX-License-Identifier: Apache-2.0
# tensorflow.python.data.ops.iterator_ops:OwnedIterator.__next__ {"tf.data": [[7]]}
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

drain(Dataset(7).as_numpy_iterator().__next__)
