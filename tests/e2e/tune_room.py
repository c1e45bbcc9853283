# SPDX-License-Identifier: Apache-2.0
"""`dlprof tune` where shared memory has 8 MB."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (DLPROF, PYTHON, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         run, say, scratch)

SMALL = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=8m none /dev/shm && exec "$@"', "sh"]
# Loads and steps sleep, so that two workers load what the training takes; a batch is 2 MB.
ROOM = """
import time, torch
from torch.utils.data import DataLoader, Dataset
class Samples(Dataset):
    def __len__(self):
        return 100000
    def __getitem__(self, index):
        time.sleep(0.012)
        return torch.zeros(250000)
for batch in DataLoader(Samples(), batch_size=2, num_workers=1):
    time.sleep(0.012)
"""
# A trial keeps all batches, of 1.5 MB, which tune cannot know: two workers have 6 MB ahead, and it lets them pass.
KEPT = ROOM.replace("250000", "190000").replace("for batch in", "kept = []\nfor batch in").replace(
    "import time", "import os, time") + '    kept += [batch] * ("DLPROF_SET" in os.environ)\n'


def can_mount():
    return subprocess.run(SMALL + ["true"], stderr=subprocess.DEVNULL).returncode == 0


def tune(program):
    folder = scratch()
    path = os.path.join(folder, "train.py")
    with open(path, "w") as file:
        file.write(program)
    done = run(SMALL + [DLPROF, "tune", "--json", "-o", os.path.join(folder, "out"), "--batches", "40",
                        "--rounds", "3", PYTHON, "-W", "ignore", path],
               env=environment(preload=False), timeout=250)
    check(done.out, done.status, done.err)
    return done.status, json.loads(done.out)


def check_room():
    """What is ahead in memory must fit: two workers would have 8 MB there, one has 4 MB."""
    status, found = tune(ROOM)
    equal((status, found["best"], found["tried"]), (0, None, []), "nothing is tried")
    why = {"{}={}".format(one["setting"], one["value"]): one["why"] for one in found["not_tried"]}
    equal(why.get("workers=2"), "no_shm", why)


def check_died():
    """A trial that needs more than tune could know dies, and tune says of what."""
    status, found = tune(KEPT)
    equal((status, found["best"]), (3, None), "status", found)
    tried = {one["value"]: one for one in found["tried"]}
    equal((tried["2"]["verdict"], tried["2"]["gain"]), ("died", None), "two workers")
    check("insufficient shared memory" in tried["2"]["died"], "of what", tried["2"]["died"])


def main():
    need_shim()
    need_torch()
    if can_mount():
        check_room()
        check_died()
    else:
        say("no tmpfs can be mounted here")
    finish()


main()
