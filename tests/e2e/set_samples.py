# SPDX-License-Identifier: Apache-2.0
"""What --set says of the samples is what happens: order and random numbers of a seeded training, two
epochs, with and without. On the PyTorch that there is, and on that of TEST_VENV."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

PROGRAM = """
import random, sys, time, torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, get_worker_info

def sample(i):
    if get_worker_info() and get_worker_info().id == 0:
        time.sleep(0.005)  # so that without in_order the order is another
    return torch.tensor([float(i), torch.rand(1).item(), random.random()])

class Map(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, i):
        return sample(i)

class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        return iter(sample(i) for i in range(first, 64, step))

def take(kind):
    torch.manual_seed(0)
    random.seed(0)
    own = torch.Generator()
    data = Stream() if kind == "stream" else Map()
    loader = DataLoader(data, batch_size=4, shuffle=kind == "map", num_workers=int(sys.argv[2]),
                        sampler=RandomSampler(data, generator=own.manual_seed(0)) if kind == "own" else None)
    rows = torch.cat([batch for epoch in range(2) for batch in loader])
    print(rows[:, 0].tolist())
    print(rows[:, 1:].tolist())

if __name__ == "__main__":
    for kind in sys.argv[1].split(","):
        take(kind)
"""
SETTINGS = ["workers=0", "workers=1", "workers=4", "prefetch_factor=8", "persistent_workers=true",
            "in_order=false", "pin_memory=true", "context=forkserver", "sharing=file_system", "threads=1",
            "workers=4,prefetch_factor=1"]
WORDS = {(True, True): "same", (True, False): "same_order", (False, False): "other_order"}
# PyTorch's own random numbers shuffle "map"; a generator of its own shuffles "own", and nothing "plain".
SHUFFLED = {"map": "other_order", "own": "same_order", "plain": "same_order"}


def record(python, folder, program, words, arguments):
    database = os.path.join(folder, "run{}.db".format(len(os.listdir(folder))))
    done = t.run([t.DLPROF, "run", "-q", "-o", database] + words + [python, program] + arguments,
                 env=t.environment(preload=False), timeout=300)
    t.equal(done.status, 0, words, done.err)
    t.wait_for_drain(database)
    return done.out.splitlines(), database


def check_words(said, base, found, kind, text):
    """What JSON says of these loaders is what became of them: order, and random numbers."""
    real = WORDS[found[0] == base[0], found == base]
    if said == "other_order_if_shuffled":
        said = SHUFFLED[kind]
    # Nothing to change (no GPU, the same threads) is the same, too.
    t.equal(said or "same", real, kind, text)
    t.say(kind, text, real)


def check(python, settings):
    folder = t.scratch()
    program = os.path.join(folder, "train.py")
    with open(program, "w") as file:
        file.write(PROGRAM)
    for kinds in ("map,own,plain", "stream"):
        base, _ = record(python, folder, program, [], [kinds, "2"])
        again, _ = record(python, folder, program, [], [kinds, "2"])
        t.equal(again, base, python, kinds, "the same twice")
        for text in settings:
            found, database = record(python, folder, program, ["--set", text], [kinds, "2"])
            said = t.json.loads(t.report("--json", database).out)["run"]["set"]
            if text == "in_order=false" and not said["done"]:
                t.equal(found, base, "not there in this PyTorch, and not done")
                continue
            for at, kind in enumerate(kinds.split(",")):
                check_words(said["samples"], base[2 * at:2 * at + 2], found[2 * at:2 * at + 2], kind, text)


def main():
    t.need_shim()
    t.need_torch()
    check(t.PYTHON, SETTINGS)
    venv = os.environ.get("TEST_VENV")
    if venv:
        check(os.path.join(venv, "bin", "python"), SETTINGS)
    t.finish()


main()
