# SPDX-License-Identifier: Apache-2.0
"""`dlprof tune` of a Lightning training that keeps checkpoints: its loaders get the settings, what is
proven is the planted truth, and no run leaves anything in the folder of checkpoints. TEST_VENV names a
virtual environment with lightning; without it there is nothing to run."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

PYTHON = os.path.join(os.environ.get("TEST_VENV", "/nonexistent"), "bin", "python")
# Loads take twice as long as steps, and a training that ends writes "end" and checkpoints.
PROGRAM = """
import atexit, os, time, torch
import lightning.pytorch as lightning
from lightning.pytorch.callbacks import ModelCheckpoint
HERE = os.path.dirname(os.path.abspath(__file__))
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4 * int(os.environ.get("BATCHES", 4000))
    def __getitem__(self, index):
        time.sleep(0.01)
        return torch.ones(8)
class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)
    def training_step(self, batch, index):
        time.sleep(0.018)
        return (self.layer(batch) ** 2).mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)
    def train_dataloader(self):
        return torch.utils.data.DataLoader(Data(), batch_size=4, shuffle=True, num_workers=1)
    def on_train_end(self):
        leave("end")
def leave(name):
    open(os.path.join(HERE, "kept", name), "w").close()
if __name__ == "__main__":
    atexit.register(leave, "atexit")
    try:
        lightning.Trainer(max_epochs=1, logger=False, enable_progress_bar=False, accelerator="cpu",
                          callbacks=[ModelCheckpoint(os.path.join(HERE, "kept"), save_last=True)],
                          default_root_dir=os.path.join(HERE, "kept")).fit(Net())
    finally:
        leave("finally")
"""


def main():
    t.need_shim()
    if not os.path.exists(PYTHON) or subprocess.run([PYTHON, "-c", "import lightning"]).returncode:
        t.skip("TEST_VENV has no lightning")
    folder = t.scratch()
    kept, out, program = (os.path.join(folder, name) for name in ("kept", "out", "train.py"))
    os.mkdir(kept)
    with open(program, "w") as file:
        file.write(PROGRAM)
    done = t.run([t.DLPROF, "tune", "--json", "-o", out, "--batches", "40", PYTHON, program],
                 env=t.environment(preload=False), timeout=500)
    if not t.equal(done.status, 0, done.err, done.out):
        t.finish()
    found = json.loads(done.out)
    t.say(found["runs"], "runs", found["duration_s"], "s", found["best"], found["place"], [(
        one["value"], one["verdict"], one["gain"], one["ci95"], one["predicted"]) for one in found["tried"]])
    t.check(found["runs"] >= 10, "runs", found["runs"])
    t.equal(os.listdir(kept), [], "left in the folder of checkpoints")
    t.check(found["best"] in ("workers=2", "workers=3", "workers=4"), "needs 2", found["best"])
    t.check(found["place"].startswith("train.py:"), "place", found["place"])
    for one in found["tried"]:
        if one["setting"] == "workers":
            t.equal(sorted({row["workers"] for row in t.rows(os.path.join(out, "workers={}-1.db".format(
                one["value"])), "SELECT workers FROM loader")}), [int(one["value"])], "the loader of", one)
    # Where it may end, the same training keeps all of this.
    done = t.run([PYTHON, program], env=t.environment(preload=False, BATCHES=2), timeout=100)
    t.check({"end", "atexit", "finally", "last.ckpt"} <= set(os.listdir(kept)), os.listdir(kept), done.err)
    t.finish()


main()
