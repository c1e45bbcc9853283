# SPDX-License-Identifier: Apache-2.0
class CallbackList:
    def on_train_batch_begin(self, batch, logs=None):
        return batch
