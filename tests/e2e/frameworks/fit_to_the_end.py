# SPDX-License-Identifier: Apache-2.0
# tf.data: [[6, 6, 2]]
from graphs import fit, graph
from tensorflow.python.data.ops.dataset_ops import Dataset

train = Dataset(1)
for _ in range(2):
    fit(train, 0, 6)
    graph.graph_next(0, 10, 0)              # no more
    graph.graph_next(0, 10, 0)
fit(train, 0, 2)
graph.graph_next(0, 0, -1)
