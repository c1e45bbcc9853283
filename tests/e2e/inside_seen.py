# SPDX-License-Identifier: Apache-2.0
"""Everything that user code can see of its dataset, transforms and exceptions, printed.

usage: inside_seen.py FOLDER WORKERS START. Knows nothing of dlprof; what it prints must be the same
with and without. Addresses and pids are left out.
"""
import copy
import gc
import hashlib
import inspect
import io
import os
import pickle
import re
import sys
import traceback

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, get_worker_info
from torchvision import transforms
from torchvision.datasets import ImageFolder


def tell(*words):
    text = " ".join(str(word) for word in words)
    text = re.sub(r"0x[0-9a-f]{6,}", "0x", re.sub(r"pid\(?s?\)? [0-9, ]+", "pid N", text))
    print(text, flush=True)


def look(thing):
    """How a thing presents itself."""
    return (type(thing).__name__, type(thing).__module__, isinstance(thing, Dataset),
            re.sub("0x[0-9a-f]+", "", repr(thing)), hasattr(thing, "__getitems__"),
            hasattr(thing, "absent"), hasattr(thing, "_dlprof_object"), sorted(vars(thing)))


def frames():
    """Who called: names only, as line numbers are the same anyway."""
    return [frame.function for frame in inspect.stack()[1:] if "torch" in frame.filename]


class Own(transforms.Compose):
    def __call__(self, image):
        self.seen = getattr(self, "seen", 0) + 1
        return super().__call__(image)


class Step:
    def __init__(self, name="step"):
        self.name = name

    def __call__(self, image):
        return image


def half(image):
    return image.resize((image.width // 2, image.height // 2))


def fail_transform(image):
    raise ZeroDivisionError("in a transform")


class Seeing(Dataset):
    """Reports on itself from inside."""
    label = "x"

    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 4

    def __getitem__(self, index):
        worker = get_worker_info()
        info = worker and (worker.id, look(worker.dataset), worker.dataset is self)
        inner = self.transform(Image.new("RGB", (8, 8)))
        return (look(self), info, type(index).__name__, frames(), inner.size,
                [type(step).__name__ for step in self.transform.transforms],
                look(self.transform))


class Failing(Dataset):
    def __init__(self, how):
        self.how = how
        self.compose = transforms.Compose([half, transforms.Compose([fail_transform])])

    def __len__(self):
        return 2

    def __getitem__(self, index):
        if self.how == "transform":
            return self.compose(Image.new("RGB", (8, 8)))
        if self.how == "attribute":
            return self.missing
        if self.how == "stop":
            raise StopIteration("early")
        if self.how == "chain":
            try:
                return {}["key"]
            except KeyError as error:
                raise RuntimeError("no such sample", index) from error
        if self.how == "truncated":
            content = io.BytesIO()
            Image.effect_noise((64, 64), 90).save(content, "JPEG")
            return Image.open(io.BytesIO(content.getvalue()[:500])).convert("RGB")
        return Image.open(io.BytesIO(b"no image at all"))


class FailingStream(IterableDataset):
    def __iter__(self):
        yield 1
        raise ValueError("in a stream")


class Ended(IterableDataset):
    def __iter__(self):
        return iter([1, 2, 3])


class Nothing:
    """No dataset: no __getitem__."""
    def __len__(self):
        return 2


class Keyed(dict):
    """Its keys are no numbers."""


class Batched(Seeing):
    def __getitems__(self, indices):
        return [(type(self).__name__, index, frames()) for index in indices]


class OddBatched(Seeing):
    __getitems__ = None  # there, and not to be used

    def __getitem__(self, index):
        return index


def collate(samples):
    return [type(samples).__name__, len(samples), samples, frames()]


def starts(worker_id):
    info = get_worker_info()
    print("worker", worker_id, look(info.dataset), frames(), flush=True)


def drain(name, make):
    """All batches, or the exception to the last letter."""
    iterator = None
    try:
        iterator = iter(make())
        for batch in iterator:
            tell(name, batch)
    except BaseException as error:
        tell(name, "raised", type(error).__module__, type(error).__name__, repr(error.args),
             traceback.format_exc(), type(error.__cause__).__name__)
    # An iterator that lives on in an exception closes its pipes under the workers of the next.
    if hasattr(iterator, "_shutdown_workers"):
        iterator._shutdown_workers()
    del iterator
    gc.collect()


def digest(image):
    return image.mode, image.size, hashlib.sha256(image.tobytes()).hexdigest()


class Pixels(ImageFolder):
    def __getitem__(self, index):
        path, _ = self.samples[index]
        image = Image.open(path)
        first = image.load() is not None
        again = image.load() is not None
        image.load()
        return os.path.basename(path), image.format, first, again, digest(image), \
            digest(Image.open(path).convert("RGB").resize((50, 50))), type(image).__name__


def copies(dataset, transform, loader):
    """Copied and pickled things are what they were."""
    for thing in (dataset, transform, copy.copy(dataset), copy.deepcopy(dataset),
                  copy.deepcopy(transform), pickle.loads(pickle.dumps(dataset)),
                  pickle.loads(pickle.dumps(transform))):
        tell("copy", look(thing))
    for other in (copy.copy(loader), copy.deepcopy(loader)):
        tell("loader", type(other).__name__, look(other.dataset), other.collate_fn.__name__,
             len(list(other)))
    buffer = io.BytesIO()
    torch.save(transform, buffer)
    buffer.seek(0)
    try:
        again = torch.load(buffer, weights_only=False)
    except TypeError:  # before 1.13 there was nothing else
        buffer.seek(0)
        again = torch.load(buffer)
    tell("saved", look(again), len(pickle.dumps(transform)), len(pickle.dumps(dataset)))
    tell("functions", pickle.loads(pickle.dumps(transforms.Compose)) is transforms.Compose,
         pickle.loads(pickle.dumps(half)) is half, callable(Image.Image.load))


def main():
    folder, workers, start = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    options = {"num_workers": workers, "collate_fn": collate, "batch_size": 2}
    if workers:
        options["multiprocessing_context"] = start

    def loader(dataset, **changes):
        return lambda: DataLoader(dataset, **dict(options, **changes))

    transform = transforms.Compose([half, Own([Step("a"), transforms.Compose([Step("b")])])])
    seeing = Seeing(transform)
    drain("seeing", loader(seeing))
    if start == "spawn":  # each loader's workers import everything anew
        drain("failing: transform", loader(Failing("transform")))
        return
    drain("subset", loader(Subset(seeing, [3, 1])))
    drain("one by one", loader(seeing, batch_size=None, collate_fn=None))
    drain("lambda", loader(Seeing(transforms.Compose([lambda image: image, half]))))
    drain("own", loader(Seeing(Own([half, Step()]))))
    drain("batched", loader(Batched(transform)))
    drain("odd batched", loader(OddBatched(transform)))
    drain("list", loader([1, 2, 3]))
    drain("keyed", loader(Keyed(a=1, b=2), sampler=["a", "b"]))
    drain("ended", loader(Ended()))
    drain("nothing", loader(Nothing()))
    for how in ("transform", "attribute", "stop", "chain", "truncated", "no image"):
        drain("failing: " + how, loader(Failing(how)))
    drain("failing stream", loader(FailingStream()))
    if workers:
        drain("init", loader([1, 2], worker_init_fn=starts, num_workers=1))
    drain("pixels", loader(Pixels(folder)))
    copies(seeing, transform, loader(seeing)())
    drain("after copies", loader(copy.deepcopy(seeing)))


if __name__ == "__main__":
    main()
