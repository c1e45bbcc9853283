# SPDX-License-Identifier: Apache-2.0
"""A training over images that keeps its own clock of reading, decoding, transforming, collating.

usage: inside_host.py make FOLDER            generates the images
       inside_host.py FOLDER '{"workers": 2, "start": "fork", "epochs": 2}'
Knows nothing of dlprof. Prints one JSON object: for each case the nanoseconds and calls of each
part, and what was decoded. Every case has a loader of its own and classes of its own.
"""
import io
import json
import os
import random
import sys
import time

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
from torchvision import transforms
from torchvision.datasets import ImageFolder

SIZES = ((96, 80), (224, 224), (500, 375), (1100, 300))
FORMATS = ("jpg", "png", "webp", "tif", "bmp", "lzw.tif")
RAW_BYTES = 8 << 20


def now():
    return time.perf_counter_ns()


class Stamps:
    """Of one sample: part -> [ns, calls]; goes through the collate_fn to the main process."""
    def __init__(self):
        self.parts, self.decoded = {}, []

    def add(self, part, begin, inner=0):
        ns = now() - begin - inner
        held = self.parts.setdefault(part, [0, 0])
        held[0] += ns
        held[1] += 1
        return ns + inner

    def total(self):
        return sum(ns for ns, _ in self.parts.values())


current = Stamps()  # of the sample that this process is at


def load_image(path):
    """Bytes first, so that no reading is inside the decoding."""
    begin = now()
    with open(path, "rb") as file:
        content = file.read()
    current.add("read", begin)
    image = Image.open(io.BytesIO(content))
    begin = now()
    image.load()
    current.add("decode", begin)
    image.load()  # nothing left to do
    current.decoded.append((image.format, image.width, image.height))
    return image.convert("RGB")


class Work:
    """A transform that takes a while; subclasses give it a name."""
    rounds = 1

    def __call__(self, image):
        begin = now()
        for _ in range(self.rounds):
            image = image.rotate(3)
        current.add(type(self).__name__, begin)
        return image


class FolderTurn(Work):
    rounds = 8


class FolderShrink(Work):
    def __call__(self, image):
        begin = now()
        image = image.resize((160, 160), Image.BICUBIC)
        current.add("FolderShrink", begin)
        return image


class StreamTurn(Work):
    pass


class ItemsTurn(Work):
    pass


class InnerTurn(Work):
    pass


class OuterTurn(Work):
    pass


class OwnCompose(transforms.Compose):
    """Users write these."""
    def __call__(self, image):
        return super().__call__(super().__call__(image))


class SuperTurn(Work):
    pass


def turn_function(image):
    begin = now()
    image = image.rotate(5)
    current.add("turn_function", begin)
    return image


def to_array(image):
    begin = now()
    array = numpy.asarray(image.resize((64, 64)), dtype=numpy.float32).copy()
    current.add("to_array", begin)
    return array


def finish(begin, dataset, array):
    """The stamps of a sample that is done; what no part took is the dataset's own."""
    global current
    done, current = current, Stamps()
    inner = done.total()
    done.add(dataset, begin, inner)
    return array, done.parts, done.decoded


class Photos(ImageFolder):
    def __getitem__(self, index):
        begin = now()
        image, _ = super().__getitem__(index)
        return finish(begin, "Photos", image)


class Paths(Dataset):
    def __init__(self, paths, transform):
        self.paths, self.transform = paths, transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        begin = now()
        image = self.transform(load_image(self.paths[index]))
        return finish(begin, type(self).__name__, image)


class Nested(Paths):
    pass


class Supered(Paths):
    pass


class Items(Paths):
    """Fetches whole batches. The stamp of a batch goes with its first sample."""
    def __getitems__(self, indices):
        begin = now()
        inner, samples = 0, []
        for index in indices:
            array, parts, decoded = self[index]
            inner += sum(ns for part, (ns, _) in parts.items() if part != "Items")
            parts.pop("Items")
            samples.append((array, parts, decoded))
        samples[0][1]["Items"] = [now() - begin - inner, 1]
        return samples


class Stream(IterableDataset):
    def __init__(self, paths, transform):
        self.paths, self.transform = paths, transform

    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for path in self.paths[first::step]:
            begin = now()
            image = self.transform(load_image(path))
            yield finish(begin, "Stream", image)


class Raw(Dataset):
    """Reads a lot, decodes nothing."""
    def __init__(self, path, count):
        self.path, self.count = path, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        begin = now()
        content = numpy.zeros(RAW_BYTES, numpy.uint8)
        started = now()
        fd = os.open(self.path, os.O_RDONLY)
        os.readv(fd, [content])
        os.close(fd)
        current.add("read", started)
        array = content[::65536].copy()
        del content  # or it is given back after the last stamp
        return finish(begin, "Raw", array)


def collate(samples):
    begin = now()
    if isinstance(samples[0], torch.Tensor):
        return torch.stack(samples), {}, [], now() - begin
    arrays = numpy.stack([array for array, _, _ in samples])
    parts, decoded = {}, []
    for _, own, pictures in samples:
        decoded += pictures
        for part, (ns, calls) in own.items():
            held = parts.setdefault(part, [0, 0])
            held[0] += ns
            held[1] += calls
    return torch.from_numpy(arrays), parts, decoded, now() - begin


def make_cases(folder):
    paths = sorted(os.path.join(where, name) for where, _, names in os.walk(folder)
                   for name in names if name != "raw.bin")
    compose = transforms.Compose
    nested = compose([compose([InnerTurn(), turn_function]), OuterTurn(), to_array])
    return {
        "folder": Photos(folder, compose([FolderTurn(), FolderShrink(), to_array]),
                         loader=load_image),
        "nested": Nested(paths, nested),
        "supered": Supered(paths, compose([OwnCompose([SuperTurn()]), to_array])),
        "items": Items(paths, compose([ItemsTurn(), to_array])),
        "stream": Stream(paths, compose([StreamTurn(), to_array])),
        "raw": Raw(os.path.join(folder, "raw.bin"), 25),
        "list": [torch.zeros(16) for _ in range(len(paths))],
    }


def train(dataset, plan):
    options = {"num_workers": plan["workers"], "batch_size": 4, "collate_fn": collate}
    if plan["workers"]:
        options["multiprocessing_context"] = plan["start"]
    if plan.get("rounds"):  # of all samples in each epoch
        options["sampler"] = list(range(len(dataset))) * plan["rounds"]
    loader = DataLoader(dataset, **options)
    result = {"parts": {}, "decoded": [], "collate": 0, "batches": 0, "sum": 0.0}
    for _ in range(plan["epochs"]):
        for images, parts, decoded, collate_ns in loader:
            result["sum"] += float(images.to(torch.float64).sum())
            result["decoded"] += decoded
            result["collate"] += collate_ns
            result["batches"] += 1
            for part, (ns, calls) in parts.items():
                held = result["parts"].setdefault(part, [0, 0])
                held[0] += ns
                held[1] += calls
    return result


def make(folder):
    rng = random.Random(20261121)
    for number, (width, height) in enumerate(SIZES):
        grain = Image.frombytes("RGB", (48, 40), rng.getrandbits(8 * 5760).to_bytes(5760, "big"))
        image = grain.resize((width, height), Image.BICUBIC)
        for ending in FORMATS:
            where = os.path.join(folder, "class{}".format(number % 2))
            os.makedirs(where, exist_ok=True)
            options = {"compression": "tiff_lzw"} if ending == "lzw.tif" else {}
            image.save(os.path.join(where, "{}-{}.{}".format(number, width, ending)), **options)
    with open(os.path.join(folder, "raw.bin"), "wb") as file:
        file.write(os.urandom(1 << 16) * (RAW_BYTES >> 16))


def main():
    if sys.argv[1] == "make":
        make(sys.argv[2])
        return
    torch.set_num_threads(1)
    plan = json.loads(sys.argv[2])
    print(json.dumps({name: train(dataset, plan)
                      for name, dataset in make_cases(sys.argv[1]).items()
                      if name in plan.get("cases", [name])}))


if __name__ == "__main__":
    main()
