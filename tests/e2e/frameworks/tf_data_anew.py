# SPDX-License-Identifier: Apache-2.0
# tf.data: [[9, 9, 9], [5, 5, 5], [7, 7], [6, 6]]
# A dataset that is made anew for each epoch is one loader; two that exist at once are two.
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

for _ in range(3):
 d = Dataset(9)
 drain(iter(d).__next__)
 drain(iter(Dataset(5)).__next__)
kept = Dataset(7), Dataset(6)
for d in kept + kept:
 drain(iter(d).__next__)
