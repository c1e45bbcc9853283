# SPDX-License-Identifier: Apache-2.0
"""Transforms of packages that make each of them a class with one __call__() are named, with their times and numbers."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, environment, equal, finish, need_shim, need_torch, report, run,  # noqa: E402
                         scratch, wait_for_drain)

PACKAGES = (("albumentations.core.transforms_interface", "BasicTransform"),
            ("audiomentations.core.transforms_interface", "BaseWaveformTransform"),
            ("torch_geometric.transforms.base_transform", "BaseTransform"))
BASE = """
class %s:
    def __call__(self, sample):
        return self.apply(sample)
"""
HOST = """
import time, torch
from torch.utils.data import DataLoader, Dataset
%s
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass

class Shift(First):
    def apply(self, sample): return work(.002) or sample + 1

class Stretch(Second):
    def apply(self, sample): return work(.001) or sample * 2

class Mirror(Third):
    def apply(self, sample): return sample

class Data(Dataset):
    def __len__(self): return 80
    def __getitem__(self, index): return Mirror()(Stretch()(Shift()(index)))

for batch in DataLoader(Data(), batch_size=4, num_workers=1):
    time.sleep(.002)
"""


def main():
    need_shim()
    need_torch()
    folder = scratch()
    database, imports = os.path.join(folder, "run.db"), ""
    for (module, name), short in zip(PACKAGES, ("First", "Second", "Third")):
        path = os.path.join(folder, *module.split(".")) + ".py"
        os.makedirs(os.path.dirname(path))
        with open(path, "w") as file:
            file.write(BASE % name)
        imports += "from {} import {} as {}\n".format(module, name, short)
    done = run([sys.executable, "-c", HOST % imports],
               env=environment(DLPROF_OUT=database, PYTHONPATH=folder))
    equal(done.status, 0, done.err)
    check(wait_for_drain(database, 20), "the run ends")
    found = {step["name"]: step for step in json.loads(report("--json", database).out)["steps"]}
    for name, least_s in (("Shift", 0.15), ("Stretch", 0.07), ("Mirror", 0)):
        step = found.get(name, {})
        equal((step.get("kind"), step.get("count")), ("transform", 80), name, found)
        check(step.get("time_s", -1) >= least_s, name, step)
    finish()


main()
