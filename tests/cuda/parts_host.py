# SPDX-License-Identifier: Apache-2.0
"""A training that launches kernels and sleeps in each part of its steps, and prints when each part began and
ended. A kernel has the name of the part that launches it. The backward pass launches from another thread, as
autograd does.

usage: parts_host.py JSON, with {part: [kernels, milliseconds of sleep]}
"""
import ctypes
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.environ["TEST_STUB"])
import torch  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

PLAN = json.loads(sys.argv[1])
work = ctypes.CDLL("libwork.so")
cuda = ctypes.CDLL("libcudart.so.13")


class Dim3(ctypes.Structure):
    _fields_ = [(axis, ctypes.c_uint) for axis in "xyz"]


NAMES = {part: ctypes.create_string_buffer(part.encode()) for part in PLAN}
cuda.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Dim3, Dim3, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]


def launch(part):
    for _ in range(PLAN[part][0]):
        cuda.cudaLaunchKernel(ctypes.addressof(NAMES[part]), Dim3(400, 1, 1), Dim3(1, 1, 1), None, 0, None)
    time.sleep(PLAN[part][1] / 1000)


def give(part, step):
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    thread = threading.Thread(target=launch, args=[part])
    if part == "backward":
        thread.start()
        thread.join()
    else:
        launch(part)
    print(json.dumps({"step": step, "part": part, "begin": begin, "end": time.clock_gettime_ns(time.CLOCK_MONOTONIC)}))


class Optimizer(torch.optim.optimizer.Optimizer):
    def update(self, step):
        give("optimizer", step)


work.work_open(b"h2d=4096")
optimizer = Optimizer()
for step in DataLoader(range(PLAN["batches"]), batch_size=None):
    for _ in range(PLAN.get("passes", 1)):
        give("before", step)
        torch.Tensor(lambda: give("backward", step)).backward()
    give("between", step)
    optimizer.step(step)
    give("after", step)
work.work_close()
