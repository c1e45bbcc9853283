# SPDX-License-Identifier: Apache-2.0
"""A loop over a pipeline of DALI's on the CPU, with a planted flaw.

usage: real_dali_host.py FOLDER KIND. Prints a digest of all that came out of it.
"""
import hashlib
import os
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


def source(number):
    time.sleep(.03)
    return [np.full((8, 8, 3), number.idx_in_epoch % 256 if hasattr(number, "idx_in_epoch") else number % 256,
                    np.uint8)] * BATCH


@pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, prefetch_queue_depth=2)
def pipeline():
    if kind == "source":
        return fn.resize(fn.external_source(source, batch=True, layout="HWC"), size=(16, 16))
    files, labels = fn.readers.file(file_root=os.path.join(folder, "slow"), name="Reader", dont_use_mmap=True,
                                    initial_fill=16)
    images = fn.resize(fn.decoders.image(files, device="cpu"), size=(96, 96), name="Resize")
    if kind == "blur":
        images = fn.gaussian_blur(images, window_size=61, name="Blur")
    return images, labels


if not os.path.exists(os.path.join(folder, "slow")):
    make()
if kind == "make":
    sys.exit()
pipe, digest = pipeline(), hashlib.sha256()
pipe.build()
for _ in range(BATCHES):
    for tensors in pipe.run():
        digest.update(np.asarray(tensors.as_array()).tobytes())
    time.sleep(.005)
print(digest.hexdigest())
