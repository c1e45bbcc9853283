# SPDX-License-Identifier: Apache-2.0
# tf.data: [[8, 8]]
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

d = Dataset(14, fails=7)
for _ in range(2): drain(iter(d).__next__)
