# SPDX-License-Identifier: Apache-2.0
"""Decodes images of rows whose time is known, as Pillow does, which it takes the place of.

usage: rows_host.py LIBJPEG CALLER FILE; prints, as JSON, {width: [rows' ns, gaps' ns, rows, bytes]}
and under "load" what load() took by its own clock.
"""
import ctypes
import json
import os
import sys
import time
import types

from torch.utils.data import DataLoader, Dataset

ROWS, COUNT = 120, 30
NEVER = (1 << 32) - 1
jpeg = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
caller = ctypes.CDLL(sys.argv[2])
rows_ns = ctypes.c_uint64.in_dll(jpeg, "rows_ns")
gaps_ns = ctypes.c_uint64.in_dll(caller, "gaps_ns")
row_file = ctypes.c_int.in_dll(jpeg, "row_file")
now = time.perf_counter_ns


class ImageFile:
    format = "JPEG"

    def __init__(self, width, pieces=(ROWS,), skip=NEVER, broken=NEVER, file=-1):
        self.size, self.tile = (width, ROWS), [1]
        self.pieces, self.skip, self.broken, self.file = pieces, skip, broken, file

    def load(self):
        row_file.value = self.file
        caller.image_begin(self.size[0], ROWS, self.broken)
        for piece in self.pieces:
            status = caller.image_feed(piece, self.skip)
            if status:
                break
            until = now() + 200000  # the next piece of the file is found
            while now() < until:
                pass
        self.tile = []
        if status < 0:
            raise OSError("broken")
        assert status == 1


def plant(name, **content):
    module = types.ModuleType(name)
    module.__dict__.update(content)
    sys.modules[name] = module
    return module


plant("PIL", __path__=[], Image=plant("PIL.Image"),
      ImageFile=plant("PIL.ImageFile", ImageFile=ImageFile))
ImageFile.__module__ = "PIL.ImageFile"


class Images(Dataset):
    """One kind of image a width."""
    kinds = {
        100: {},
        200: {"pieces": (50, 40, 0, 30)},
        400: {"skip": 60},
        800: {"file": os.open(sys.argv[3], os.O_RDONLY)},
        1600: {"broken": 90},
    }

    def __init__(self):
        self.told = {"load": 0}

    def __len__(self):
        return COUNT * len(self.kinds)

    def __getitem__(self, index):
        width = list(self.kinds)[index % len(self.kinds)]
        image = ImageFile(width, **self.kinds[width])
        begin = now(), rows_ns.value, gaps_ns.value
        try:
            image.load()
            assert image.broken == NEVER
        except OSError:
            assert image.broken != NEVER
        took = [end - at for end, at in zip((now(), rows_ns.value, gaps_ns.value), begin)]
        told = self.told.setdefault(width, [0, 0, 0, 0])
        for i, value in enumerate((took[1], took[2], caller.image_rows(), caller.image_bytes())):
            told[i] += value
        self.told["load"] += took[0]
        return index


images = Images()
for _ in DataLoader(images, batch_size=10):
    pass
print(json.dumps(images.told))
