# SPDX-License-Identifier: Apache-2.0
"""tf.data makes an iterator in its constructor."""
import time

from stopwatch import Timed, finish, step
from tensorflow.python.data.ops import iterator_ops
from tensorflow.python.data.ops.dataset_ops import Dataset

iterator_ops.create = lambda: time.sleep(0.03)
data = Dataset(5)
for _ in range(8):
    for _ in Timed(data):
        step(0.006)
finish(loaders=1, is_opaque=True)
