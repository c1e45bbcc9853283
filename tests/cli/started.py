# SPDX-License-Identifier: Apache-2.0
"""dlprof(7) is right under STARTING A TRAINING: torchrun's ranks give one report, process 1 of a container
is recorded whole and ends, and a Jupyter kernel with the preload has a report while it runs."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402

BATCHES = 40
TRAINING = """
import torch.utils.data as data
for batch in data.DataLoader(list(range({})), num_workers=2): pass
""".format(BATCHES)
KERNEL = """
import json, sys
from jupyter_client.manager import start_new_kernel
manager, kernel = start_new_kernel(kernel_name="dlprof")
kernel.execute_interactive(sys.argv[1] + "import dlprof; print(dlprof.latest()['batches'])")
kernel.execute_interactive("!" + sys.argv[2])
kernel.stop_channels()
manager.shutdown_kernel()
"""


def recorded(folder):
    """Calls the report first, which takes up records that the drain could not store before process 1 ended."""
    t.wait_for_drain(folder)
    for path in t.databases(folder):
        t.report(path)
    return sorted((os.path.basename(path), t.rows(path, "SELECT count(*) AS n FROM batch")[0]["n"])
                  for path in t.databases(folder))


def run(folder, *command, **changes):
    return t.run(list(command), cwd=folder, env=t.environment(False, TMPDIR=folder, **changes))


def check_torchrun(program):
    """Uses a PyTorch in TEST_VENV: Debian's torchrun 1.13 does not work with Debian's Python 3.11."""
    venv = os.environ.get("TEST_VENV")
    torchrun = [os.path.join(venv, "bin", "python") if venv else t.PYTHON, "-m",
                "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    if run(t.scratch(), *torchrun, "--no_python", "true").status:
        return t.say("no torchrun that works: ranks are not tried")
    folder = t.scratch()
    done = run(folder, t.DLPROF, "run", "-o", "r%r.db", *torchrun, program)
    t.equal(done.status, 0, "torchrun", done.err)
    t.equal(recorded(folder), [("r0.db", BATCHES), ("r1.db", BATCHES)], "torchrun", done.err)
    t.check("2 ranks" in done.err, "torchrun: the report", done.err)


def check_first_process(program):
    alone = ["unshare", "-pf", "--mount-proc"]
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return t.say("not root, or no unshare: process 1 is not tried")
    for option in ([], ["--exec"]):
        folder = t.scratch()
        done = run(folder, *alone, t.DLPROF, "run", "-o", "run.db", *option, t.PYTHON, program)
        t.equal(done.status, 0, "process 1", option, done.err)
        t.equal(recorded(folder), [("run.db", BATCHES)], "process 1", option, done.err)
        t.check("run.db" in done.err, "process 1: what is said at the end", option, done.err)


def check_kernel():
    if subprocess.run([t.PYTHON, "-c", "import ipykernel, jupyter_client"],
                      stderr=subprocess.DEVNULL).returncode:
        return t.say("no ipykernel: no notebook is tried")
    folder = t.scratch()
    home = {"JUPYTER_DATA_DIR": os.path.join(folder, "share", "jupyter"), "IPYTHONDIR": folder,
            "JUPYTER_RUNTIME_DIR": folder}
    run(folder, t.PYTHON, "-m", "ipykernel", "install", "--prefix", folder, "--name", "dlprof",
        "--env", "LD_PRELOAD", t.SHIM, "--env", "PYTHONPATH", os.path.join(t.ROOT, "analyzer", "python"),
        **home)
    with open(os.path.join(folder, "share", "jupyter", "kernels", "dlprof", "kernel.json")) as file:
        t.equal(json.load(file)["env"]["LD_PRELOAD"], t.SHIM, "the kernel's environment")
    done = run(folder, t.PYTHON, "-c", KERNEL, TRAINING, t.REPORT, **home)
    t.check(done.out.startswith(str(BATCHES)), "latest() in a cell", done.out, done.err)
    t.check("still recording" in done.out, "the report in a cell", done.out, done.err)
    t.check("of the last second may be missing" in done.out, "what it may lack", done.out)
    t.equal([count for _, count in recorded(folder)], [BATCHES], "a kernel")


def main():
    t.need_shim()
    t.need_torch()
    program = os.path.join(t.scratch(), "train.py")
    with open(program, "w") as file:
        file.write(TRAINING)
    check_torchrun(program)
    check_first_process(program)
    check_kernel()
    t.finish()


main()
