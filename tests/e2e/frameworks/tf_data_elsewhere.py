# SPDX-License-Identifier: Apache-2.0
# tf.data: [[4], [4]]
# A dataset that lies where one lay that is gone, but is iterated elsewhere, is another loader.
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset


def train():
    dataset = Dataset(4)
    drain(iter(dataset).__next__)
    return id(dataset)


at, kept = train(), []
while len(kept) < 1000 and id(kept and kept[-1]) != at:
    kept.append(Dataset(4))
drain(iter(kept[-1]).__next__)
