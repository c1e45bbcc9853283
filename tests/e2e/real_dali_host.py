# SPDX-License-Identifier: Apache-2.0
"""A loop over a pipeline of DALI's on the CPU, with a planted flaw.

usage: real_dali_host.py FOLDER KIND. Prints a digest of all that came out of it, and how long it took in seconds.
"""
import hashlib
import os
import shutil
import sys
import time

import numpy as np
from nvidia.dali import fn, pipeline_def

IMAGES, BATCH, BATCHES = 96, 8, 40
folder, kind = sys.argv[1:3]


def make():
    from PIL import Image

    os.makedirs(os.path.join(folder, "slow", "a"))
    noise = np.random.default_rng(1)
    for number in range(IMAGES):
        blocks = noise.integers(0, 255, (24, 32, 3), np.uint8).repeat(16, 0).repeat(16, 1)
        Image.fromarray(blocks).save(os.path.join(folder, "slow", "a", "%04d.jpg" % number))
    os.makedirs(os.path.join(folder, "fast", "a"))
    shutil.copy(os.path.join(folder, "slow", "a", "0000.jpg"), os.path.join(folder, "fast", "a"))


def source(number):
    time.sleep(.03)
    return [np.full((8, 8, 3), number.idx_in_epoch % 256 if hasattr(number, "idx_in_epoch") else number % 256,
                    np.uint8)] * BATCH


def names(sample):
    folder_name = "slow" if sample.idx_in_batch % 2 else "fast"
    return np.frombuffer(os.path.join(folder, folder_name, "a", "0000.jpg").encode(), np.uint8)


@pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, prefetch_queue_depth=2)
def pipeline(shard=0, shards=1):
    if kind == "source":
        return fn.resize(fn.external_source(source, batch=True, layout="HWC"), size=(16, 16))
    files, labels = fn.readers.file(file_root=os.path.join(folder, "slow"), name="Reader", dont_use_mmap=True,
                                    initial_fill=2048 if kind == "filled" else 16, random_shuffle=kind == "filled", seed=1,
                                    shard_id=shard, num_shards=shards)
    images = fn.resize(fn.decoders.image(files, device="cpu"), size=(96, 96), name="Resize")
    if kind in ("blur", "filled"):
        images = fn.gaussian_blur(images, window_size=61, name="Blur")
    # An operator that reads every other file again, so that it takes half of the reader's time.
    if kind in ("near", "near_two"):
        again = fn.io.file.read(fn.external_source(names, batch=False), dont_use_mmap=True)
        return images, labels, fn.shapes(again)
    return images, labels


if not os.path.exists(os.path.join(folder, "slow")):
    make()
if kind == "make":
    sys.exit()
count = 2 if kind == "near_two" else 1
pipes, digest = [pipeline(shard, count) for shard in range(count)], hashlib.sha256()
for pipe in pipes:
    pipe.build()
begin = None
for number in range(BATCHES):
    for tensors in pipes[number % count].run():
        digest.update(np.asarray(tensors.as_array()).tobytes())
    begin = begin or time.monotonic()
    time.sleep(.005)
print(digest.hexdigest(), time.monotonic() - begin)
