# SPDX-License-Identifier: Apache-2.0
"""Decodes images whose time is known, as Pillow does, which it takes the place of.

usage: host.py LIBJPEG CALLER FILE; prints, as JSON, {width: [ns from start to end, bytes]}, and under
"load" what load() took by its own clock.
"""
import ctypes
import json
import os
import sys
import threading
import time
import types

from torch.utils.data import DataLoader, Dataset

ROWS, COUNT, IMAGE_BYTES = 120, 30, 840
NEVER = (1 << 32) - 1
jpeg = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
caller = ctypes.CDLL(sys.argv[2])
image_ns = ctypes.c_uint64.in_dll(caller, "image_ns")
row_file = ctypes.c_int.in_dll(jpeg, "row_file")
now = time.perf_counter_ns


class ImageFile:
    format = "JPEG"

    def __init__(self, width, pieces=(ROWS,), skip=NEVER, broken=NEVER, destroyed=False, file=-1,
                 elsewhere=False, ready_bytes=0, keeps=0):
        self.size, self.tile = (width, ROWS), [1]
        self.pieces, self.skip, self.broken, self.file = pieces, skip, broken, file
        self.destroyed, self.elsewhere, self.ready_bytes = destroyed, elsewhere, ready_bytes
        self.keeps = keeps

    def feed(self):
        for piece in self.pieces:
            self.status = caller.image_feed(piece, self.skip)
            if self.status:
                break
            until = now() + 200000  # the next piece of the file is found
            while now() < until:
                pass

    def load(self):
        row_file.value = self.file
        if self.keeps:
            caller.image_keep(self.keeps, ROWS)
        caller.image_begin(self.size[0], ROWS, self.broken, ctypes.c_size_t(self.ready_bytes))
        if self.elsewhere:
            other = threading.Thread(target=self.feed)
            other.start()
            other.join()
        else:
            self.feed()
        self.tile = []
        if self.destroyed:
            caller.image_destroy()
        if self.status < 0:
            raise OSError("broken")
        assert self.status == 1


def plant(name, **content):
    module = types.ModuleType(name)
    module.__dict__.update(content)
    sys.modules[name] = module
    return module


plant("PIL", __path__=[], Image=plant("PIL.Image"),
      ImageFile=plant("PIL.ImageFile", ImageFile=ImageFile))
ImageFile.__module__ = "PIL.ImageFile"


class Images(Dataset):
    """One kind of image a width; one more is begun in each load, and ended in the next."""
    kinds = {
        100: {"keeps": 12800},
        200: {"pieces": (50, 40, 0, 30)},
        400: {"skip": 60, "ready_bytes": IMAGE_BYTES},
        800: {"file": os.open(sys.argv[3], os.O_RDONLY)},
        1600: {"broken": 90},
        3200: {"broken": 90, "destroyed": True},
        6400: {"elsewhere": True},
    }

    def __init__(self):
        self.told = {"load": 0}

    def __len__(self):
        return COUNT * len(self.kinds)

    def __getitem__(self, index):
        width = list(self.kinds)[index % len(self.kinds)]
        image = ImageFile(width, **self.kinds[width])
        if width == 100:
            caller.image_lose(0)
            caller.image_lose(1)
        begin = now(), image_ns.value
        try:
            image.load()
            assert image.broken == NEVER
        except OSError:
            assert image.broken != NEVER
        told = self.told.setdefault(width, [0, 0])
        self.told["load"] += now() - begin[0]
        told[0] += image_ns.value - begin[1]
        told[1] += caller.image_bytes()
        return index


images = Images()
for _ in DataLoader(images, batch_size=len(images.kinds)):
    pass
print(json.dumps(images.told))
