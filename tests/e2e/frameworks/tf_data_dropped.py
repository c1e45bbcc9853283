# SPDX-License-Identifier: Apache-2.0
# tf.data: [[12, 12], [12]]
# An iterator of the first dataset is destroyed by each thread, and that takes a while.
import threading

from graphs import fit, graph
from tensorflow.python.data.ops.dataset_ops import Dataset


def other():
    graph.iterator_dropped(0)
    fit(Dataset(1), 1, 12)


train = Dataset(1)
for _ in range(2):
    fit(train, 0, 12)
    graph.iterator_dropped(0)
thread = threading.Thread(target=other)
thread.start()
thread.join()
for number in range(2):
    graph.graph_next(number, 0, -1)
