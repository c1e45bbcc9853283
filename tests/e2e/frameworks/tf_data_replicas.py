# SPDX-License-Identifier: Apache-2.0
# tf.data: [[10, 10]]
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

from tensorflow.python.distribute.input_lib import DistributedIterator
d = Dataset(10)
kept = [DistributedIterator([iter(d), iter(d)]) for _ in range(2)]
for it in kept: drain(it.__next__)
