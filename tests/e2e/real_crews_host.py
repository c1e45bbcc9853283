# SPDX-License-Identifier: Apache-2.0
"""A loop over a DataLoader of MXNet Gluon's or PaddlePaddle's, with a planted flaw.

usage: real_crews_host.py mxnet|paddle FOLDER KIND OPTION=VALUE...: options of the DataLoader's. Prints when which
sample was loaded by whom, a digest of all batches, and what the loop waited and took, in seconds.
"""
import hashlib
import os
import sys
import threading
import time

import numpy as np

FILES, BATCH, EPOCHS, STEP_S = 128, 4, 3, .01
LOCK = threading.Lock()  # each process has its own
framework, folder, kind = sys.argv[1:4]
options = {name: int(value) for name, value in (option.split("=") for option in sys.argv[4:])}


def path_of(number):
    return os.path.join(folder, "slow", "%04d.raw" % number)


class Files:
    def __len__(self):
        return FILES

    def __getitem__(self, number):
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        file = os.open(path_of(number), os.O_RDONLY)
        data = np.frombuffer(os.pread(file, 4096, 0), np.float32)
        os.close(file)
        if kind == "sleep":
            time.sleep(.015)
        elif kind == "locked":
            with LOCK:
                time.sleep(.008)
        elif kind == "python":
            sum(i * i for i in range(80_000))
        elif kind == "sample" and number == 17:
            time.sleep(1)
        os.write(1, b"SAMPLE %d %d %d %d\n" % (number, os.getpid(), begin,
                                              time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
        return data


class Stream:
    """What each worker's part of an IterableDataset gives."""
    def __iter__(self):
        from paddle.io import get_worker_info
        worker, files = get_worker_info(), Files()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        return (files[number] for number in range(first, FILES, step))


def make():
    os.makedirs(os.path.join(folder, "slow"))
    noise = np.random.default_rng(1)
    for number in range(FILES):
        with open(path_of(number), "wb") as file:
            file.write(noise.random(256, np.float32).tobytes())


def main():
    if kind == "make":
        make()
        return
    if framework == "mxnet":
        from mxnet.gluon.data import DataLoader
        loader = DataLoader(Files(), BATCH, **options)
    else:
        import paddle
        from paddle.io import DataLoader, Dataset, DistributedBatchSampler, IterableDataset
        paddle.set_device("cpu")
        data, batches = type("Set", (Files, Dataset), {})(), {"batch_size": BATCH}
        if options.pop("stream", 0):
            data = type("Set", (Stream, IterableDataset), {})()
        elif options.pop("distributed", 0):
            batches = {"batch_sampler": DistributedBatchSampler(data, BATCH, num_replicas=2, rank=0)}
        loader = DataLoader(data, **batches, **options)
    digest, waited, begin = hashlib.sha256(), 0, 0
    for epoch in range(EPOCHS):
        asked = time.monotonic()
        batches = iter(loader)
        while True:
            batch = next(batches, None)
            got = time.monotonic()
            if begin:
                waited += got - asked
            if batch is None:
                break
            begin = begin or got
            batch = batch[0] if isinstance(batch, list) else batch
            digest.update(batch.asnumpy().tobytes() if framework == "mxnet" else batch.numpy().tobytes())
            time.sleep(STEP_S)
            asked = time.monotonic()
    print("DIGEST", digest.hexdigest())
    print("TIME %.3f %.3f" % (waited, time.monotonic() - begin))


main()
