# SPDX-License-Identifier: Apache-2.0
# nothing: []


from mxnet.io import io
from nvidia.dali import pipeline
from keras import callbacks
from tensorflow.python.data.ops.dataset_ops import Dataset
