# SPDX-License-Identifier: Apache-2.0
# tf.data: [[6, 6, 6]]
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

d = Dataset(9)
for _ in range(3): drain(iter(d).__next__, 6)
