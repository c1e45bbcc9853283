# SPDX-License-Identifier: Apache-2.0
# tf.data: [[7], [7]]
from asked import ask, done
from tensorflow.python.data.ops.dataset_ops import Dataset

a, b = iter(Dataset(1)), iter(Dataset(1))
for _ in range(6):
    ask(0, a); ask(0, b)
ask(0, a, b.resource)                       # which asks the other in turn
done(1)
