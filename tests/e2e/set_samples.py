# SPDX-License-Identifier: Apache-2.0
"""What --set says of the samples is what happens: order and random numbers of a seeded training, two
epochs, with and without. On the PyTorch that there is, and on that of TEST_VENV."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

PROGRAM = """
import random, sys, torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

def sample(i):
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

if __name__ == "__main__":
    torch.manual_seed(0)
    random.seed(0)
    is_map = sys.argv[1] == "map"
    loader = DataLoader(Map() if is_map else Stream(), batch_size=4, shuffle=is_map,
                        num_workers=int(sys.argv[2]))
    rows = torch.cat([batch for epoch in range(2) for batch in loader])
    print(rows[:, 0].tolist())
    print(rows[:, 1:].tolist())
"""
SETTINGS = ["workers=0", "workers=1", "workers=4", "prefetch_factor=8", "persistent_workers=true",
            "in_order=false", "pin_memory=true", "context=forkserver", "sharing=file_system", "threads=1",
            "workers=4,prefetch_factor=1"]
WORDS = {(True, True): "same", (True, False): "same_order", (False, False): "other_order"}


def record(python, folder, program, words, arguments):
    database = os.path.join(folder, "run{}.db".format(len(os.listdir(folder))))
    done = t.run([t.DLPROF, "run", "-q", "-o", database] + words + [python, program] + arguments,
                 env=t.environment(preload=False), timeout=300)
    t.equal(done.status, 0, words, done.err)
    t.wait_for_drain(database)
    return done.out.splitlines(), database


def check(python, settings):
    folder = t.scratch()
    program = os.path.join(folder, "train.py")
    with open(program, "w") as file:
        file.write(PROGRAM)
    for kind in ("map", "stream"):
        base, _ = record(python, folder, program, [], [kind, "2"])
        again, _ = record(python, folder, program, [], [kind, "2"])
        t.equal(again, base, python, kind, "the same twice")
        for text in settings:
            found, database = record(python, folder, program, ["--set", text], [kind, "2"])
            said = t.json.loads(t.report("--json", database).out)["run"]["set"]
            if text == "in_order=false" and not said["done"]:
                t.equal(found, base, "not there in this PyTorch, and not done")
                continue
            real = WORDS[found[0] == base[0], found == base]
            # Nothing to change (no GPU, the same threads) is the same, too.
            t.equal(said["samples"] or "same", real, python, kind, text, said)
            t.say(os.path.basename(os.path.dirname(python)), kind, text, real)


def main():
    t.need_shim()
    t.need_torch()
    check(t.PYTHON, SETTINGS)
    venv = os.environ.get("TEST_VENV")
    if venv:
        check(os.path.join(venv, "bin", "python"), SETTINGS)
    t.finish()


main()
