# SPDX-License-Identifier: Apache-2.0
# tf.data: [[2]] * 100
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

its = [iter(Dataset(2)) for _ in range(100)]
drain(lambda: [next(it) for it in its])
