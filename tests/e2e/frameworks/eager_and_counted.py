# SPDX-License-Identifier: Apache-2.0
# tf.data: [[9]]
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
d = Counted(9)
drain(iter(d).__next__)
graph.graph_next(3, 0, -1)
print(metrics.metrics_calls())
