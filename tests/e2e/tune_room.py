# SPDX-License-Identifier: Apache-2.0
"""`dlprof tune` where shared memory has 8 MB, and, with TRAININGS=all in the
environment, as it takes a minute, of two ranks."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (DLPROF, PYTHON, check, databases, environment, equal, finish,  # noqa
                         need_shim, need_torch, rows, run, say, scratch)

# As torchrun would; Debian's cannot.
TWO = ["sh", "-c", "export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 20000)); "
       'RANK=1 LOCAL_RANK=1 "$@" & RANK=0 LOCAL_RANK=0 "$@" && wait $!', "sh"]
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
RANKS = """
import time, torch, torch.distributed
from torch.utils.data import DataLoader, Dataset
class Samples(Dataset):
    def __len__(self):
        return 100000
    def __getitem__(self, index):
        time.sleep(0.04)
        return torch.zeros(100)
torch.distributed.init_process_group("gloo")
torch.set_num_threads(1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(100, 10))
for batch in DataLoader(Samples(), batch_size=2, num_workers=1):
    model(batch).sum().backward()
    time.sleep(0.04)
"""


def tune(program, batches, prefix=(), before=()):
    """The JSON of it, its folder, and what it said."""
    folder = scratch()
    path, out = os.path.join(folder, "train.py"), os.path.join(folder, "out")
    with open(path, "w") as file:
        file.write(program)
    done = run(list(before) + [DLPROF, "tune", "--json", "-o", out, "--batches", str(batches),
                               "--rounds", "3"] + list(prefix) + [PYTHON, "-W", "ignore", path],
               env=environment(preload=False), timeout=250)
    equal(done.status, 0, program, done.err)
    return json.loads(done.out), out, done.err


def can_mount():
    return subprocess.run(SMALL + ["true"], stderr=subprocess.DEVNULL).returncode == 0


def check_room():
    """What is ahead in memory must fit: two workers would have 8 MB there, one has 4 MB."""
    found, _, _ = tune(ROOM, 40, before=SMALL)
    equal((found["best"], found["tried"]), (None, []), "nothing is tried")
    why = {"{}={}".format(one["setting"], one["value"]): one["why"] for one in found["not_tried"]}
    equal(why.get("workers=2"), "no_shm", why)


def check_ranks():
    """Both ranks stop at the same batch, in each run, and two workers are faster."""
    found, folder, said = tune(RANKS, 30, TWO)
    equal(found["best"], "workers=2", found["tried"], found["not_tried"])
    counts = [rows(path, "SELECT COUNT(*) AS n FROM batch")[0]["n"] for path in databases(folder)]
    first = [30 + 8] * 2  # to predict from
    equal(sorted(counts), first + [found["batches"]] * 2 * (found["runs"] - 1),
          "batches of each rank of each run", said)
    check(" runs of {} batches, about ".format(found["batches"]) in said and " to 6 " not in said,
          "what it will cost", said)


def main():
    need_shim()
    need_torch()
    if can_mount():
        check_room()
    else:
        say("no tmpfs can be mounted here")
    if os.environ.get("TRAININGS") == "all":
        check_ranks()
    finish()


main()
