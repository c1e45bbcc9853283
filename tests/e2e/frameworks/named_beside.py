# SPDX-License-Identifier: Apache-2.0
# home:read {"batch_fn": [[10]], "tf.data": [[7]]}
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

import home
it = iter(range(10))
drain(lambda: home.read(it))
drain(iter(Dataset(7)).__next__)
