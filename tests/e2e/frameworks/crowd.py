# SPDX-License-Identifier: Apache-2.0
from asked import done, graph
from tensorflow.python.data.ops.dataset_ops import Dataset

iterators = [iter(Dataset(1)) for _ in range(200)]
for _ in range(2):
    for iterator in iterators: graph.graph_ask(0, 1, 8, iterator.resource, -1)
done(1)
