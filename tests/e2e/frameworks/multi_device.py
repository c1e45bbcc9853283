# SPDX-License-Identifier: Apache-2.0
# tf.data: [[10, 10]]
from asked import ask, done, graph, OwnedMultiDeviceIterator
from tensorflow.python.data.ops.dataset_ops import Dataset

data = Dataset(1)
for epoch in range(2):
    many = OwnedMultiDeviceIterator(data, ["a", "b"])
    OwnedMultiDeviceIterator(components=many._device_iterators)
    one, two = many._device_iterators
    for _ in range(10):
        ask(0, one)
        graph.graph_ask(1, 100, 8, two.resource, -1)
        for _ in range(2):                  # begun on one thread, done on another
            graph.graph_ask(2, 100, 8, many.resource, -1)
            graph.graph_next(3, 100, 8)
done(4)
