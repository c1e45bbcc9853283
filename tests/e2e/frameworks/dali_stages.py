# SPDX-License-Identifier: Apache-2.0
"""A pipeline whose executor and reader mark ranges of time, as dali_ranges.c plays them.

usage: dali_stages.py BATCHES OPERATORS_US READER_US CALLBACK_US IS_OLD
"""
import ctypes
import os
import sys
import time

from nvidia.dali.pipeline import Pipeline

base, native = (ctypes.CDLL(os.environ[name]) for name in ("DALI_BASE", "DALI_RANGES"))
batches, operators_us, reader_us, callback_us, is_old = map(int, sys.argv[1:])


class Ranges(Pipeline):
    def _outputs(self):
        time.sleep(callback_us / 1e6)
        native.run_pipeline(operators_us, reader_us, is_old)
        return 1


pipe = Ranges(0)
print(sum(pipe.run() for _ in range(batches)), base.ranges_open())
