# SPDX-License-Identifier: Apache-2.0
from driver import time

from keras.callbacks import CallbackList
from tensorflow.python.keras.callbacks import CallbackList as Old
for callbacks in CallbackList(), Old():
    for epoch in range(2):
        for batch in range(30):
            callbacks.on_train_batch_begin(batch)
            time.sleep(0.002)
