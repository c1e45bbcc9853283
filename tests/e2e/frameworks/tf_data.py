# SPDX-License-Identifier: Apache-2.0
# tf.data: [[14, 14], [5, 5]]
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

d, v = Dataset(14), Dataset(5)
for _ in range(2):
 drain(d.as_numpy_iterator().__next__)
 drain(iter(v).next)
