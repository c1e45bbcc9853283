# SPDX-License-Identifier: Apache-2.0
"""The line at exit after Ctrl-C, in a job, and where no loader was seen."""
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, databases, environment, equal, finish,  # noqa
                         need_shim, need_torch, rows, run, scratch, use_stub, wait_for_drain)

TRAINING = """
import os, signal, sys, time
from torch.utils.data import DataLoader
class Set:
    def __len__(self):
        return 400
    def __getitem__(self, index):
        time.sleep(0.01)
        return index
def train(batches, workers=0):
    for i, _ in enumerate(DataLoader(Set(), batch_size=2, num_workers=workers)):
        if i == 5:
            print("going", flush=True)
        if i + 1 == batches:
            return
"""
LINE = re.compile(r"dlprof: (\d+) batch(?:es)?, \d+ % of the time waiting for data"
                  r"(?: \(too few for a verdict\))?, "
                  r"dlprof-report run.db\n")
UNSEEN = re.compile(r"dlprof: torch was imported, but no loader was seen in process \d+ to hand out "
                    r"a batch: 'dlprof doctor' says what would be seen here, DLPROF_BATCH_FN names "
                    r"a loader of your own\n")
NOTHING = re.compile("")


def start(text, **changes):
    folder = scratch()
    with open(os.path.join(folder, "program.py"), "w") as file:
        file.write(text)
    env = environment(DLPROF_OUT=os.path.join(folder, "run.db"), **changes)
    return folder, [PYTHON, "-W", "ignore", "program.py"], env


def done(text, **changes):
    folder, argv, env = start(text, **changes)
    result = run(argv, env=env, cwd=folder)
    for database in databases(folder):
        wait_for_drain(database)
    return result, folder


def check_interrupt(workers):
    """A terminal sends it to all processes of the training."""
    folder, argv, env = start(TRAINING + "train(1000, {})".format(workers))
    process = subprocess.Popen(argv, env=env, cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    equal(process.stdout.readline(), b"going\n", workers, "workers: it trains")
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    err = err.decode()
    equal(process.returncode, -signal.SIGINT, workers, "workers: status")
    check("KeyboardInterrupt" in err, workers, "workers: the traceback", err)
    found = LINE.findall(err)
    if equal(len(found), 1, workers, "workers: lines", err):
        wait_for_drain(os.path.join(folder, "run.db"))
        stored = rows(os.path.join(folder, "run.db"), "SELECT count(*) AS n FROM batch")[0]["n"]
        equal(stored, int(found[0]), workers, "workers: batches")


def check_own_signals():
    """It sends itself a signal, and may well live on."""
    for name, text, status, lines in (
            ("tidied up after SIGTERM", """
train(8)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGTERM)
""", -signal.SIGTERM, 1), ("a handler of its own", """
signal.signal(signal.SIGINT, lambda *_: None)
train(8)
os.kill(os.getpid(), signal.SIGINT)
print("alive")
""", 0, 1), ("blocked", """
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
train(8)
os.kill(os.getpid(), signal.SIGINT)
print("alive")
""", 0, 1), ("another process", """
train(8)
import subprocess
child = subprocess.Popen(["sleep", "60"])
child.send_signal(signal.SIGINT)
print("killed by", child.wait())
""", 0, 1)):
        result, _ = done(TRAINING + text)
        equal(result.status, status, name, "status")
        equal(len(LINE.findall(result.err)), lines, name, "lines", result.err)
        check(status or len(result.out.splitlines()) == 2, name, "it did not live on", result.out)


def check_ranks():
    for rank, said in (("0", 1), ("3", 0)):
        result, folder = done(TRAINING + "train(8)", RANK=rank, LOCAL_RANK=rank)
        equal(len(LINE.findall(result.err)), said, "local rank", rank, result.err)
        equal(len(databases(folder)), 1, "local rank", rank, "databases")


def check_unseen():
    torch = "import torch.utils.data\n"
    children = torch + "import os, subprocess, time\n"
    for name, text, changes, said in (
            ("torch alone", torch, {}, UNSEEN),
            ("a loader that nobody asked", torch + "torch.utils.data.DataLoader([1])", {}, UNSEEN),
            ("no framework", "import json", {}, NOTHING),
            ("quiet", torch, {"DLPROF_QUIET": 1}, NOTHING),
            ("disabled", torch, {"DLPROF_DISABLE": 1}, NOTHING),
            ("local rank 1", torch, {"LOCAL_RANK": 1}, NOTHING),
            ("a forked child", children + "os.fork() or os._exit(0)\nos.wait()", {}, UNSEEN),
            # They may train, or have done so.
            ("a child that lives", children + "subprocess.Popen(['sleep', '1'])", {}, NOTHING),
            ("one that nobody waited for", children + "os.fork() or os._exit(0)\ntime.sleep(0.5)",
             {}, NOTHING),
    ):
        result, folder = done(text, **changes)
        equal((result.status, result.out), (0, ""), name)
        check(said.fullmatch(result.err), name, repr(result.err))
        equal(databases(folder), [], name, "databases")


def check_launchers():
    torch = "import torch.utils.data\n"
    # What starts a training: that one has its own line.
    result, _ = done(torch + "import subprocess, sys\nsubprocess.check_call([sys.executable, '-c', "
                     "%r])" % (TRAINING + "train(8)"))
    check(LINE.fullmatch(result.err), "a launcher", result.err)
    result, _ = done(TRAINING + """
import torch.multiprocessing
def work(rank):
    train(8)
if __name__ == "__main__":
    torch.multiprocessing.spawn(work)
""")
    check(LINE.fullmatch(result.err), "torch.multiprocessing.spawn", result.err)


def main():
    need_torch()
    need_shim()
    check_interrupt(2)
    check_launchers()
    use_stub()
    check_interrupt(0)
    check_own_signals()
    check_ranks()
    check_unseen()
    finish()


main()
