# SPDX-License-Identifier: Apache-2.0
from keras.src.callbacks.callback_list import CallbackList
