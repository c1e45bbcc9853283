# SPDX-License-Identifier: Apache-2.0
# tf.data: [[9], [9]]
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

a, b = iter(Dataset(9)), iter(Dataset(9))
drain(lambda: (next(a), next(b)))
