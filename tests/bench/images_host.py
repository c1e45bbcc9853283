# SPDX-License-Identifier: Apache-2.0
"""Loads images of one kind and keeps its own clock. Knows nothing of dlprof.

usage: images_host.py make FOLDER | images_host.py FOLDER KIND COUNT (prints one JSON object)

The clock of open, read and close is stamps.c, preloaded: Python's own has some 8 us of the interpreter
between the stamps, which is more than a small file takes.
"""
import ctypes
import io
import json
import os
import random
import sys
import time

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

FILES = 64  # on disk; loaded again and again
clock = ctypes.CDLL(None)
now = time.perf_counter_ns
stamps = {}


def stamp(part, begin):
    stamps[part] = stamps.get(part, 0) + now() - begin


class Crop:
    def __call__(self, image):
        begin = now()
        image = image.resize((256, 256), Image.BILINEAR).crop((16, 16, 240, 240))
        stamp("Crop", begin)
        return image


class Tensor:
    def __call__(self, image):
        begin = now()
        tensor = torch.from_numpy(numpy.array(image)).permute(2, 0, 1).float().div(255)
        stamp("Tensor", begin)
        return tensor


class Images(Dataset):
    def __init__(self, folder, kind, count):
        self.kind, self.count = kind, count
        where = os.path.join(folder, kind)
        self.paths = [os.path.join(where, name) for name in sorted(os.listdir(where))]
        self.sizes = [os.stat(path).st_size for path in self.paths]
        self.transform = transforms.Compose([Crop(), Tensor()])

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        clock.stamps_await()
        fd = os.open(self.paths[index % FILES], os.O_RDONLY)
        content = os.read(fd, self.sizes[index % FILES])
        os.close(fd)
        if self.kind.startswith("npy"):
            return torch.from_numpy(numpy.load(io.BytesIO(content)))
        if self.kind.startswith("pt"):
            return torch.load(io.BytesIO(content))
        image = Image.open(io.BytesIO(content))
        begin = now()
        image.load()
        stamp("decode", begin)
        return self.transform(image)


def collate(samples):
    begin = now()
    batch = torch.stack(samples)
    stamp("collate", begin)
    return batch


def make(folder):
    rng = random.Random(1)
    for size in (224, 768):
        for number in range(FILES):
            grain = rng.getrandbits(8 * 64 * 64 * 3).to_bytes(64 * 64 * 3, "big")
            image = Image.frombytes("RGB", (64, 64), grain).resize((size, size), Image.BICUBIC)
            array = numpy.asarray(image.resize((224, 224))).transpose(2, 0, 1).copy()
            for kind in ("jpg", "png") + (("npy", "pt") if size == 224 else ()):
                where = os.path.join(folder, kind + str(size))
                os.makedirs(where, exist_ok=True)
                path = os.path.join(where, "{}.{}".format(number, kind))
                if kind == "npy":
                    numpy.save(path, array.astype(numpy.float32) / 255)
                elif kind == "pt":
                    torch.save(torch.from_numpy(array).float() / 255, path)
                else:
                    image.save(path)


def main():
    torch.set_num_threads(1)
    dataset = Images(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    begin = now()
    for _ in DataLoader(dataset, batch_size=32, collate_fn=collate):
        pass
    all_ns = now() - begin
    clock.stamps_ns.restype = ctypes.c_int64
    print(json.dumps(dict(stamps, read=clock.stamps_ns(), all=all_ns)))


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    main()
