# SPDX-License-Identifier: Apache-2.0
# tf.data: [[10]]
from driver import drain
from tensorflow.python.data.ops.dataset_ops import Dataset

from keras.src.backend.jax.trainer import JAXEpochIterator
it = iter(JAXEpochIterator(iter(Dataset(10)))._get_iterator())
drain(it.__next__)
