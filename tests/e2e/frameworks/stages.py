# SPDX-License-Identifier: Apache-2.0
"""A dataset whose elements come out of a pipeline of stages, as tf_stages.c plays it.

usage: stages.py EPOCHS ELEMENTS READ_US DECODE_US [ASLEEP_US EVERY]
"""
import ctypes
import os
import sys
import time

from driver import now
from tensorflow.python.data.ops.dataset_ops import Dataset

ctypes.CDLL(os.environ["TF_STAGES_BASE"])
pipeline = ctypes.CDLL(os.environ["TF_STAGES"])
epochs, count, read_us, decode_us = map(int, sys.argv[1:5])
pipeline.pipeline_vary(*map(int, sys.argv[5:] or (0, 0)))


class Pipeline(Dataset):
    def elements(self):
        pipeline.pipeline_make(count, read_us, decode_us)
        while pipeline.pipeline_next():
            yield 1
        pipeline.pipeline_drop()


data, asked = Pipeline(0), 0
for _ in range(epochs):
    for element in data:
        asked += element
        if epochs * count < 1000:
            time.sleep(0.001)
if epochs * count >= 1000:
    time.sleep(2)                           # until the rings have room again
print(asked, pipeline.pipeline_wrong(), pipeline.pipeline_texts(), now() > 0)
