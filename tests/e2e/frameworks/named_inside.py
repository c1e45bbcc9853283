# SPDX-License-Identifier: Apache-2.0
# home:read {"batch_fn": [[10]]}
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

import home
class Reading(Dataset):
    def elements(self):
        while True:
            try:
                yield home.read(inner)
            except StopIteration:
                return
inner = iter(range(10))
drain(iter(Reading(10)).__next__)
