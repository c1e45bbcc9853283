# SPDX-License-Identifier: Apache-2.0
# tf.data: [[8]]
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

from tensorflow.python.eager import context
it = iter(Dataset(8))
context.eager = False; print(next(it), next(it)); context.eager = True
drain(it.__next__)
