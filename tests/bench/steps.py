# SPDX-License-Identifier: Apache-2.0
"""Nanoseconds that following a sample costs: its __getitem__, a step of its Compose, an image.

Each is the least of many rounds, with the preload less without.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         run, say, scratch, wait_for_drain)

ROUNDS = 5
SCRIPT = """
import io, time
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import transforms
N = 2000
def same(x): return x
file = io.BytesIO(); Image.new("L", (2, 2)).save(file, "PNG")
one, nine = transforms.Compose([same]), transforms.Compose([same] * 9)
class Items:
    work = staticmethod(lambda: None)
    def __len__(self): return N
    def __getitem__(self, index):
        self.work()
def image():
    Image.open(file).load()
def least(work):
    Items.work = staticmethod(work)
    best = 1e18
    for _ in range(7):
        begin = time.perf_counter_ns()
        for _ in DataLoader(Items(), batch_size=N, collate_fn=len): pass
        best = min(best, time.perf_counter_ns() - begin)
    return best / N
print(least(lambda: None), least(lambda: one(0)), least(lambda: nine(0)), least(image))
"""


def measure(env):
    done = run([PYTHON, "-c", SCRIPT], env=env)
    equal(done.status, 0, "exit status", done.err[-2000:])
    empty, one, nine, image = map(float, done.out.split())
    return {"a sample (__getitem__)": empty, "a Compose of one step": one - empty,
            "a step more": (nine - one) / 8, "an image of 2 x 2 pixels": image - empty}


def main():
    need_torch()
    need_shim()
    out = os.path.join(scratch(), "run.db")
    bare, ours = [], []
    for _ in range(ROUNDS):
        bare.append(measure(environment(False)))
        ours.append(measure(environment(DLPROF_OUT=out, DLPROF_QUIET="1")))
    for name in bare[0]:
        least = [min(one[name] for one in many) for many in (bare, ours)]
        middle = [statistics.median(one[name] for one in many) for many in (bare, ours)]
        say("{}: bare {:.0f} ns, ours {:+.0f} ns (medians: {:+.0f} ns)".format(
            name, least[0], least[1] - least[0], middle[1] - middle[0]))
        check(least[0] > 0 and least[1] > 0, name, "took no time")
    wait_for_drain(out)
    finish()


main()
