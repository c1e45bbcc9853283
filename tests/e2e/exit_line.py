# SPDX-License-Identifier: Apache-2.0
"""The line at exit and the report say what the script's own stopwatch around iter() and next()
says."""
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, SHIM, check, databases, environment, equal, finish,  # noqa
                         need_shim, need_torch, report, run, scratch, use_stub, wait_for_drain)

# Asks as a `for` does, with the time of all that is not a step added up.
HEAD = """
import sys, threading, time
from torch.utils.data import DataLoader
class Samples:
    def __init__(self, count, load_s=0.004):
        self.count, self.load_s = count, load_s
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        time.sleep(self.load_s)
        return index
waited = first = last = newest = 0
def timed(call, *args):
    global waited, last, newest
    last = time.monotonic()         # the end of the last step, perhaps
    waited += newest
    try:
        return call(*args)
    except StopIteration:
        return None
    finally:
        newest = time.monotonic() - last if first else 0
def epoch(loader, step_s=0.01, most=1000):
    global first
    iterator = timed(iter, loader)
    for _ in range(most):
        if timed(next, iterator) is None:
            return
        first = first or time.monotonic()
        time.sleep(step_s)
"""
TAIL = """
sys.stdout.write("%.2f" % (waited * 100 / (last - first)))
"""
PROGRAMS = {
    "short epochs, workers made anew": """
for _ in range(4):
    epoch(DataLoader(Samples(24), batch_size=4, num_workers=2))
""",
    "without workers, and time between epochs": """
loader = DataLoader(Samples(40), batch_size=2)
for _ in range(3):
    epoch(loader)
    time.sleep(0.2)
""",
    "two loaders in turn in one loop": """
one, two = (iter(DataLoader(Samples(60, load_s), batch_size=2)) for load_s in (0.004, 0.002))
for _ in range(25):
    timed(next, one), timed(next, two)
    first = first or time.monotonic()
    time.sleep(0.01)
timed(iter, DataLoader(Samples(2)))
""",
    "validation within an epoch": """
iterator = timed(iter, DataLoader(Samples(60), batch_size=2, num_workers=1))
for i in range(30):
    timed(next, iterator)
    first = first or time.monotonic()
    time.sleep(0.01)
    if i % 10 == 9:
        epoch(DataLoader(Samples(20), batch_size=4), 0.004)
timed(next, iterator)
""",
    "a loader within the load of another": """
class Outer(Samples):
    def __getitem__(self, index):
        return sum(sum(batch) for batch in DataLoader(Samples(4, 0.001), batch_size=2))
epoch(DataLoader(Outer(40), batch_size=2))
""",
    "left half-way": """
for _ in range(3):
    epoch(DataLoader(Samples(60), batch_size=2), most=12)
timed(iter, DataLoader(Samples(2)))
""",
    "the training is a thread's": """
epoch(DataLoader(Samples(4), batch_size=2), 0.001)
waited = first = newest = 0
thread = threading.Thread(target=epoch, args=(DataLoader(Samples(80), batch_size=2),))
thread.start()
thread.join()
""",
}
LINE = re.compile(r"dlprof: \d+ batch(?:es)?, (\d+) % of the time waiting for data.*, .*\n")


def check_without_drain():
    """The line says what is missing; the report has all batches, and leaves no folder behind."""
    folder, library = scratch(), os.path.join(scratch(), "libdlprof.so")
    shutil.copyfile(SHIM, library)
    with open(os.path.join(folder, "program.py"), "w") as file:
        file.write(HEAD + "epoch(DataLoader(Samples(40), batch_size=2, num_workers=1))\n")
    temporary = os.path.join(folder, "tmp")
    os.mkdir(temporary)
    database = os.path.join(folder, "run.db")
    done = run([PYTHON, "-W", "ignore", "program.py"], cwd=folder,
               env=environment(LD_PRELOAD=library, DLPROF_OUT=database, TMPDIR=temporary))
    equal(done.status, 0, "without a drain", done.err)
    check("dlprof-drain, which belongs beside libdlprof.so, could not be started: dlprof-report "
          in done.err, done.err)
    check("run.db has what fitted into memory" in done.err, done.err)
    equal(json.loads(report("--json", database).out)["stall"]["batches"], 20, "batches")
    equal([name for name in os.listdir(temporary) if name.startswith("dlprof-")], [], "left")


def main():
    need_torch()
    need_shim()
    for name, text in PROGRAMS.items():
        folder = scratch()
        with open(os.path.join(folder, "program.py"), "w") as file:
            file.write(HEAD + text + TAIL)
        done = run([PYTHON, "-W", "ignore", "program.py"], cwd=folder,
                   env=environment(DLPROF_OUT=os.path.join(folder, "run.db")))
        equal(done.status, 0, name, "status", done.err[-2000:])
        found = LINE.fullmatch(done.err)
        if check(found, name, "the line", repr(done.err)):
            check(abs(int(found.group(1)) - float(done.out)) <= 1.0, name, "line", found.group(1),
                  "stopwatch", done.out)
        for database in databases(folder):
            wait_for_drain(database)
            whole = json.loads(report("--json", database).out or "{}")
            said = whole.get("stall", {})
            equal("too few for a verdict" in done.err,
                  whole.get("incomplete_reason") == "few_batches", name, "a verdict", done.err)
            check(found and abs(int(found.group(1)) - 100 * (said.get("ratio") or 0)) <= 1.0, name,
                  "line", repr(done.err), "report", said)
        use_stub()  # from the second one on
    check_without_drain()
    finish()


main()
