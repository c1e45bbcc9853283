# SPDX-License-Identifier: Apache-2.0
# tf.data: [[12, 12], [6, 6]]
from asked import ask, done
from tensorflow.python.data.ops.dataset_ops import Dataset

train, val = Dataset(1), Dataset(1)
def fit(data, number, count):               # four nodes ask the same iterator, and leave it half-way
    iterator = iter(data)
    for step in range(count): ask(number + step % 4, iterator)
    return iterator
for _ in range(2):
    fit(train, 0, 12)
    fit(val, 4, 6)
done(8)
