# SPDX-License-Identifier: Apache-2.0
# tf.data: [[12, 12]]
from graphs import fit, graph
from tensorflow.python.data.ops.dataset_ops import Dataset

train = Dataset(1)
for _ in range(2):
    fit(train, 0, 12)
    graph.iterator_dropped(0)
graph.graph_next(0, 0, -1)
