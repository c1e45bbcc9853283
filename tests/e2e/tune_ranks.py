# SPDX-License-Identifier: Apache-2.0
"""`dlprof tune` of two ranks, by the torchrun of the PyTorch in TEST_VENV: it proves the gain that is
planted, and none where none is, by the rank that waits, and in each run both ranks take as many batches.
Without torchrun a shell starts the ranks, and only planted gains are looked for."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

VENV = os.environ.get("TEST_VENV")
PYTHON = os.path.join(VENV, "bin", "python") if VENV else t.PYTHON
TORCHRUN = [PYTHON, "-W", "ignore", "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
SHELL = ["sh", "-c", "export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 20000)); "
         'RANK=1 LOCAL_RANK=1 "$@" & RANK=0 LOCAL_RANK=0 "$@" && wait $!', "sh", PYTHON, "-W", "ignore"]
# Loads take twice as long as steps. "turns": those of all workers, one after the other; "first" and "last":
# only those of that rank, the others' are short. "apart": the ranks do not wait for each other; rank 0 gains by
# workers; rank 1 waits longer in its first batch, and in all batches of a run with a setting.
PROGRAM = """
import fcntl, os, sys, time, torch, torch.distributed
from torch.utils.data import DataLoader, Dataset
kind, rank = sys.argv[1], os.environ["RANK"]
is_slow = kind in ("both", "turns") or rank == {"first": "0", "apart": "0", "last": "1"}[kind]
load_s = (0.02 if kind == "turns" else 0.04) if is_slow else 0.004
if kind == "apart" and rank == "1" and os.environ.get("DLPROF_SET"):
    load_s = 0.15
class Samples(Dataset):
    def __len__(self):
        return 100000
    def __getitem__(self, index):
        with open(__file__ + (".turn" if kind == "turns" else str(os.getpid())), "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            time.sleep(3 if kind == "apart" and rank == "1" and index == 0 else load_s)
        return torch.zeros(100)
torch.distributed.init_process_group("gloo")
torch.set_num_threads(1)
model = torch.nn.Linear(100, 10)
if kind != "apart":
    model = torch.nn.parallel.DistributedDataParallel(model)
for batch in DataLoader(Samples(), batch_size=2, num_workers=1):
    model(batch).sum().backward()
    time.sleep(0.04)
"""


def tune(start, kind, *options):
    """What it says of this kind of training, with what is true of all."""
    folder = t.scratch()
    program, out = os.path.join(folder, "train.py"), os.path.join(folder, "out")
    with open(program, "w") as file:
        file.write(PROGRAM)
    done = t.run([t.DLPROF, "tune", "--json", "-o", out, "--batches", "30", "--rounds", "3", *options, *start,
                  program, kind], env=t.environment(preload=False), timeout=400)
    if not t.check(done.out, kind, done.status, done.err):
        t.finish()
    found = json.loads(done.out)
    t.say(kind, found["duration_s"], "s", found["best"], "rank", found["rank"], [
        (one["setting"], one["value"], one["verdict"], one["gain"], one["ci95"], one["predicted"]["gain"])
        for one in found["tried"]])
    counts = [t.rows(path, "SELECT COUNT(*) AS n FROM batch")[0]["n"] for path in t.databases(out)]
    t.equal(sorted(counts), [30 + 8] * 2 + [found["batches"]] * 2 * (found["runs"] - 1), kind,
            "batches of each rank of each run", done.err)
    for name in os.listdir(out):
        if name.endswith(".log"):
            with open(os.path.join(out, name)) as file:
                text = file.read()
            t.check("Error" not in text and "Traceback" not in text, kind, name, text)
    left = [line for line in os.popen("ps -eo args").read().splitlines() if program in line]
    t.equal(left, [], kind, "processes left")
    return found


def works(start):
    return subprocess.run(start + ["--no_python", "true"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def main():
    t.need_shim()
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        t.skip("{} has no torch".format(PYTHON))
    has_torchrun = works(TORCHRUN)
    start = TORCHRUN if has_torchrun else SHELL
    for kind in ("both", "apart"):
        found = tune(start, kind)
        t.check(found["best"] in ("workers=2", "workers=3"), kind, found["best"], found["tried"],
                found["not_tried"])
        t.equal(found["rank"] if kind == "apart" else 0, 0, kind, "who is measured")
    if not has_torchrun:
        t.say("no torchrun that works")
        t.finish()
    found = tune(start, "turns")
    t.equal(found["best"], None, "turns", found["tried"])
    t.check([one for one in found["tried"] if one["setting"] == "workers" and one["shared"]], "turns: nothing shared",
            found["tried"])
    for rank, kind in enumerate(("first", "last")):
        found = tune(start, kind, "--max-time", "1")
        t.equal(found["rank"], rank, kind, "who waits")
        t.check([one for one in found["tried"] if one["setting"] == "workers"], kind, "no workers tried",
                found["not_tried"])
    t.finish()


main()
