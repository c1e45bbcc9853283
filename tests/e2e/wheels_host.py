# SPDX-License-Identifier: Apache-2.0
"""Decodes with every library that users have, keeping its own clock.

usage: wheels_host.py make FOLDER, which writes the files and prints name -> [version, path] of the
libraries; then wheels_host.py FOLDER WORKERS START. Knows nothing of dlprof. Prints one JSON object:
library -> [operations, nanoseconds], transform -> [calls, nanoseconds], and a checksum.
"""
import hashlib
import json
import os
import pickle
import sys
import time

import albumentations
import cv2
import h5py
import numpy
import PIL
import pillow_heif
import soundfile
import torch
import torchvision
import zarr
from PIL import Image
from torch.utils.data import DataLoader, Dataset, Subset

try:
    from torchvision.transforms import v2 as transforms
    TO_TENSOR = transforms.ToImage
except ImportError:  # before 0.15
    from torchvision import transforms
    TO_TENSOR = transforms.PILToTensor

now = time.perf_counter_ns
pillow_heif.register_heif_opener()
SIZE = 640
COUNT = 8
HAS_GIF = hasattr(torchvision.io, "decode_gif")  # of 0.18 and later


class Turn(torch.nn.Module):
    def forward(self, image):
        begin = now()
        turned = transforms.functional.rotate(image, 4)
        STAMPS.append(("Turn", now() - begin))
        return turned


class Stamped(albumentations.ImageOnlyTransform):
    def __init__(self):
        super().__init__(p=1.0)

    def apply(self, img, **params):
        begin = now()
        img = cv2.GaussianBlur(img, (31, 31), 5)
        STAMPS.append(("Stamped", now() - begin))
        return img


STAMPS = []


class Everything(Dataset):
    def __init__(self, folder):
        self.folder = folder
        self.steps = transforms.Compose([TO_TENSOR(), Turn()])
        self.augment = albumentations.Compose([Stamped()])
        self.reader = cv2.imread  # what spawned workers get pickled

    def __len__(self):
        return COUNT

    def path(self, name):
        return os.path.join(self.folder, name)

    def timed(self, library, function, *arguments):
        begin = now()
        result = function(*arguments)
        STAMPS.append((library, now() - begin))
        return result

    def __getitem__(self, index):
        STAMPS.clear()
        digest = hashlib.sha256()
        image = Image.open(self.path("a.jpg"))
        self.timed("Pillow", image.load)
        array = self.timed("OpenCV", cv2.imread, self.path("a.png"))
        with open(self.path("a.jpg"), "rb") as file:
            content = numpy.frombuffer(file.read(), numpy.uint8)
        second = self.timed("OpenCV", cv2.imdecode, content, cv2.IMREAD_COLOR)
        with h5py.File(self.path("a.h5"), "r") as file:
            table = self.timed("h5py", file["x"].__getitem__, slice(None))
        sound, _ = self.timed("soundfile", soundfile.read, self.path("a.flac"))
        gif = torchvision.io.read_file(self.path("a.gif"))
        if HAS_GIF:
            gif = self.timed("torchvision", torchvision.io.decode_gif, gif)
        heif = Image.open(self.path("a.heic"))
        self.timed("libheif", heif.load)
        stored = zarr.open(self.path("a.zarr"), mode="r")
        chunks = self.timed("zarr", stored.__getitem__, slice(None))
        turned = self.steps(image)
        blurred = self.augment(image=array)["image"]
        for part in (image.tobytes(), array.tobytes(), second.tobytes(), table.tobytes(),
                     sound.tobytes(), gif.numpy().tobytes(), heif.tobytes(), chunks.tobytes(),
                     turned.numpy().tobytes(), blurred.tobytes()):
            digest.update(part)
        return digest.hexdigest(), list(STAMPS)


def keep(samples):
    return samples


def make(folder):
    rng = numpy.random.default_rng(1)
    small = rng.integers(0, 255, (40, 40, 3), dtype=numpy.uint8)
    array = cv2.resize(small, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)
    image = Image.fromarray(array)
    for ending in ("jpg", "png", "gif"):
        image.save(os.path.join(folder, "a." + ending))
    with h5py.File(os.path.join(folder, "a.h5"), "w") as file:
        file.create_dataset("x", data=array, compression="gzip")
    image.save(os.path.join(folder, "a.heic"))
    zarr.save(os.path.join(folder, "a.zarr"), array)
    soundfile.write(os.path.join(folder, "a.flac"), rng.random(200000) - 0.5, 44100)


def main():
    folder, workers, start = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    options = {"num_workers": workers, "batch_size": 2, "collate_fn": keep}
    if workers:
        options["multiprocessing_context"] = start
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    parts, digests = {}, []
    dataset = Everything(folder)
    for data in [dataset] * (2 if workers == 0 else 1) + [Subset(dataset, [0])]:
        for samples in DataLoader(data, **options):
            for digest, stamps in samples:
                digests.append(digest)
                for library, ns in stamps:
                    held = parts.setdefault(library, [0, 0])
                    held[0] += 1
                    held[1] += ns
    same = pickle.loads(pickle.dumps(cv2.imread)) is cv2.imread
    print(json.dumps({"parts": parts, "digests": digests, "pickled": same}))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
        print(json.dumps({module.__name__: (module.__version__, module.__file__) for module in (
            torch, torchvision, numpy, PIL, cv2, h5py, soundfile, albumentations, pillow_heif, zarr)}))
    else:
        main()
