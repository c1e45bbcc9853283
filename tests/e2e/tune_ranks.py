# SPDX-License-Identifier: Apache-2.0
"""`dlprof tune` of two ranks, by the torchrun of the PyTorch in TEST_VENV: it proves the gain that is
planted, and none where none is, by the rank that waits, and in each run both ranks take as many batches.
Importing torch takes most of the time, so only one kind of training is started by torchrun, which imports it
three times; the program itself forks the ranks of the others, and of all where torchrun does not work."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

VENV = os.environ.get("TEST_VENV")
PYTHON = os.path.join(VENV, "bin", "python") if VENV else t.PYTHON
TORCHRUN = [PYTHON, "-W", "ignore", "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
FORK = [PYTHON, "-W", "ignore"]
# Loads take 1.8 to 2 times as long as steps: two workers are enough, so that little is tried. "turns": those of
# all workers, one after the other; "first" and "last": only those of that rank, the others' are short. "apart":
# the ranks do not wait for each other; rank 0 gains by workers; rank 1 waits longer in its first batch, and in
# all batches of a run with a setting.
PROGRAM = """
import fcntl, os, sys, time, torch, torch.distributed
from torch.utils.data import DataLoader, Dataset
kind = sys.argv[1]
if "RANK" not in os.environ:
    os.environ.update(RANK="0", WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                      MASTER_PORT=str(20000 + os.getpid() % 20000))
    first = os.fork()
    if first and os.fork():
        sys.exit(any([os.wait()[1], os.wait()[1]]))
    if first:
        os.environ["RANK"] = "1"
    os.environ["LOCAL_RANK"] = os.environ["RANK"]
rank = os.environ["RANK"]
is_slow = kind in ("both", "turns") or rank == {"first": "0", "apart": "0", "last": "1"}[kind]
load_s = {"turns": 0.02, "both": 0.036, "apart": 0.036}.get(kind, 0.04) if is_slow else 0.004
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
    done = t.run([t.DLPROF, "tune", "--json", "-o", out, "--batches", "30", *options, *start,
                  program, kind], env=t.environment(preload=False), timeout=1200)
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
    start = TORCHRUN if works(TORCHRUN) else FORK
    t.say("the first is started by", " ".join(start))
    for kind, by in (("both", start), ("apart", FORK)):
        # Calm machines prove it by three rounds.
        found = tune(by, kind, "--rounds", "9")
        t.check(found["best"] in ("workers=2", "workers=3"), kind, found["best"], found["tried"],
                found["not_tried"])
        t.equal(found["rank"] if kind == "apart" else 0, 0, kind, "who is measured")
    found = tune(FORK, "turns", "--rounds", "3")
    t.equal(found["best"], None, "turns", found["tried"])
    t.check([one for one in found["tried"] if one["setting"] == "workers" and one["shared"]], "turns: nothing shared",
            found["tried"])
    for rank, kind in enumerate(("first", "last")):
        found = tune(FORK, kind, "--max-time", "1")
        t.equal(found["rank"], rank, kind, "who waits")
        t.check([one for one in found["tried"] if one["setting"] == "workers"], kind, "no workers tried",
                found["not_tried"])
    t.finish()


main()
