# SPDX-License-Identifier: Apache-2.0
"""A dataset whose elements are asked for eagerly, and counted by TensorFlow too."""
from driver import drain
from graphs import graph, metrics
from tensorflow.python.data.ops.dataset_ops import Dataset


class Counted(Dataset):
    def elements(self):
        for value in super().elements():
            if value % 2:                   # on this thread, or on one of TensorFlow's
                graph.get_next(2000, 8)
            else:
                graph.graph_next(3, 2000, 8)
            yield value


def drain_counted():
    d = Counted(9)
    drain(iter(d).__next__)
    graph.graph_next(3, 0, -1)
    print(metrics.metrics_calls())
