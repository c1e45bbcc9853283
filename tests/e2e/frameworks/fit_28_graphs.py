# SPDX-License-Identifier: Apache-2.0
# tf.data: [[6]] * 28
from asked import ask, done
from tensorflow.python.data.ops.dataset_ops import Dataset

iterators = [iter(Dataset(1)) for _ in range(28)]
for _ in range(6):
    for number, iterator in enumerate(iterators): ask(number, iterator)
done(28)
