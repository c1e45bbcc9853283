# SPDX-License-Identifier: Apache-2.0
# tf.data: [[6, 6]]
import asked
from asked import ask, done
from tensorflow.python.data.ops.dataset_ops import Dataset

train = Dataset(1)
for _ in range(2):
    asked.made = 0  # the last one is gone
    iterator = iter(train)
    for step in range(6): ask(_, iterator)
done(2)
