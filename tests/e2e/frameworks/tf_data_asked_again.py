# SPDX-License-Identifier: Apache-2.0
# tf.data: [[7, 7]]
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

d = Dataset(7)
for _ in range(2):
 it = iter(d)
 drain(it.__next__); print(next(it, 'none'), next(it, 'none'))
