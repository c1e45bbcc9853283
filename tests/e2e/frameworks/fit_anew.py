# SPDX-License-Identifier: Apache-2.0
# tf.data: [[9, 9, 9], [9, 9, 9], [5, 5], [4, 4, 4]]
# What one call of fit() reads is one loader, and its validation another, whatever datasets they get.
# So is what a loop leaves before its end.
import gc

from asked import ask, done
from driver import drain
from keras.src.backend.tensorflow.trainer import Trainer
from tensorflow.python.data.ops.dataset_ops import Dataset


def batches(count):
    return lambda iterator: [ask(0, iterator) for _ in range(count)]


gc.disable()
for _ in range(3):
    Trainer().fit(Dataset(9), batches(9), Dataset(9))
for _ in range(2):
    Trainer().evaluate(Dataset(5), batches(5))
for _ in range(3):
    drain(iter(Dataset(7)).__next__, 4)
done(1)
