# SPDX-License-Identifier: Apache-2.0
# home:read {"batch_fn": [[10]]}
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

import home
it = iter(Dataset(10))
drain(lambda: home.read(it))
