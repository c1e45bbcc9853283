# SPDX-License-Identifier: Apache-2.0
# keras: [[10], [10]]
from driver import drain, time

from keras.src.backend.jax.trainer import JAXEpochIterator
def batches():
    for i in range(10):
        time.sleep(0.002)
        yield i
epochs = [iter(JAXEpochIterator(batches())._get_iterator()) for _ in range(2)]
for it in epochs: drain(it.__next__)
