# SPDX-License-Identifier: Apache-2.0
"""A training script with torch's DataLoader that knows nothing of dlprof.

usage: train_host.py JSON. Its steps let the GPU work by fakes/work.c, a library that is linked to CUDA's
runtime as torch's libraries are.
"""
import ctypes
import json
import os
import sys
import time

sys.path.insert(0, os.environ["TEST_STUB"])
import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

PLAN = json.loads(sys.argv[1])


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Sleeper(Dataset):
    def __len__(self):
        return PLAN["batches"]

    def __getitem__(self, i):
        time.sleep(PLAN["load_ms"] / 1000)
        return i


def main():
    assert torch.__version__.endswith("stub")
    work = ctypes.CDLL("libwork.so")
    work.work_open(PLAN["work"].encode())
    step = 0
    for epoch in range(PLAN["epochs"]):
        loader = DataLoader(Sleeper(), batch_size=1, num_workers=PLAN["workers"],
                            collate_fn=lambda samples: samples[0],
                            multiprocessing_context="fork" if PLAN["workers"] else None,
                            pin_memory=PLAN.get("pin", False))
        begin = now()
        for batch in loader:
            fetched = now()
            work.work_step(ctypes.c_long(step))
            print(json.dumps({"step": step, "epoch": epoch, "begin": begin, "fetched": fetched,
                              "end": now()}))
            step += 1
            begin = now()
    work.work_close()


if __name__ == "__main__":
    main()
