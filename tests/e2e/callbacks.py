# SPDX-License-Identifier: Apache-2.0
"""examples/callbacks/ log the report's own numbers to TensorBoard and W&B, by the real libraries.

TEST_VENV names a virtual environment with torch, transformers, accelerate, lightning, tensorboard and
wandb; without it there is nothing to run.
"""
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (ROOT, check, environment, equal, finish, need_shim, report, run,  # noqa
                         scratch, skip, wait_for_drain)

PACKAGES = "torch transformers accelerate lightning tensorboard wandb"
PYTHON = os.path.join(os.environ.get("TEST_VENV", "/nonexistent"), "bin", "python")
PATHS = [os.path.join(ROOT, "analyzer", "python"), os.path.join(ROOT, "examples", "callbacks")]


def check_callback(name):
    folder = scratch()
    database = os.path.join(folder, "run.db")
    changes = {"PYTHONPATH": os.pathsep.join(PATHS), "WANDB_MODE": "offline"}
    done = run([PYTHON, os.path.join(HERE, "callbacks", name + ".py")], cwd=folder, timeout=300,
               env=environment(DLPROF_OUT=database, DLPROF_QUIET=1, **changes))
    if not equal(done.status, 0, name, done.err[-2000:]):
        return
    wait_for_drain(database)
    stall = json.loads(report(database, "--json").out)["stall"]
    found = run([PYTHON, os.path.join(HERE, "callbacks", "scalars.py"), "out"], cwd=folder,
                env=environment(False))
    scalars = {tag.replace("train/", ""): values for tag, values in
               json.loads(found.out or "{}").items()}
    ratios, waits = (scalars.get("dlprof/" + key, []) for key in ("stall_ratio", "wait_s"))
    check(len(ratios) >= 2 and len(ratios) == len(waits), name, sorted(scalars), found.err[-500:])
    check(waits == sorted(waits) and 0 < waits[-1] <= stall["wait_s"] + 0.01, name, "waits", waits,
          stall["wait_s"])
    mean = sum(ratios) / max(1, len(ratios))
    check(abs(mean - stall["ratio"]) < 0.1, name, "mean of the windows", ratios, stall["ratio"])
    check(glob.glob(os.path.join(folder, "**", "*.wandb"), recursive=True), name, "W&B has no run")


def main():
    need_shim()
    imports = "import " + ", ".join(PACKAGES.split())
    if not os.path.exists(PYTHON) or subprocess.run(
            [PYTHON, "-c", imports], stderr=subprocess.DEVNULL).returncode:
        skip("TEST_VENV has not all of " + PACKAGES)
    for name in ("with_trainer", "with_lightning"):
        check_callback(name)
    finish()


main()
