# SPDX-License-Identifier: Apache-2.0
"""An image's format has one name, whoever decodes it: Pillow says "WEBP" of what is WebP to all else."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, environment, equal, finish, need_shim, need_torch, rows, run,  # noqa
                         scratch, skip, wait_for_drain)

TRAINING = """
import os, sys
from PIL import Image, features
from torch.utils.data import DataLoader
if not features.check("webp"):
    sys.exit(77)
Image.new("RGB", (300, 200), "red").save("image.webp")
class Images:
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return Image.open("image.webp").convert("RGB").size
for _ in DataLoader(Images(), batch_size=2, collate_fn=len): pass
"""


def main():
    need_torch()
    need_shim()
    folder = scratch()
    database = os.path.join(folder, "run.db")
    done = run([PYTHON, "-c", TRAINING], cwd=folder,
               env=environment(DLPROF_OUT=database, DLPROF_QUIET=1))
    if done.status == 77:
        skip("this Pillow reads no WebP")
    equal((done.status, done.err), (0, ""), "the training")
    wait_for_drain(database)
    found = rows(database, "SELECT DISTINCT format FROM decode WHERE library IN ('Pillow', 'libwebp')")
    equal([row["format"] for row in found], ["WebP"], "formats")
    finish()


main()
