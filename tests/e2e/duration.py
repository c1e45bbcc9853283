# SPDX-License-Identifier: Apache-2.0
"""The head says how long the training's own process ran, whoever outlives it or notices late."""
import json
import os
import re
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, SHIM, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         report, rows, run, scratch, wait_for_drain)

# Says, when it ends, how long it was at work.
PROGRAM = """
import os, signal, sys, threading, time
from torch.utils.data import DataLoader

class Dataset:
    def __len__(self):
        return 400
    def __getitem__(self, i):
        return i

def read(done):
    with open(__file__) as file:
        file.read()
    done.wait()

done = threading.Event()
begin = time.monotonic()
for k, batch in enumerate(DataLoader(Dataset(), batch_size=4, num_workers=2)):
    time.sleep(0.005)
    if sys.argv[1] == "threads" and k > 80:     # more than one segment has room for
        threading.Thread(target=read, args=(done,)).start()
    if sys.argv[1] == "killed" and k == 80:     # its workers look for it every five seconds
        print(time.monotonic() - begin, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
done.set()
if sys.argv[1] == "outlived" and os.fork() == 0:
    for batch in DataLoader(Dataset(), batch_size=200):
        pass
    time.sleep(8)
    os._exit(0)
print(time.monotonic() - begin, flush=True)
"""
MOST_LATER_S = 4        # the end of Python on a busy machine


def seconds(text, pattern):
    found = re.search(pattern, text)
    if not found:
        return -1
    value, unit = found.groups()
    return float(value) * {"ms": 0.001, "s": 1}[unit]


def check_time(folder, name, library=None):
    database = os.path.join(folder, name + str(not library) + ".db")
    changes = {"LD_PRELOAD": library, "TMPDIR": folder} if library else {}
    result = run([PYTHON, "-W", "ignore", "program.py", name], cwd=folder,
                 env=environment(DLPROF_OUT=database, DLPROF_QUIET="1", **changes))
    equal(result.status, -9 if name == "killed" else 0, name, result.err)
    wait_for_drain(database)
    if library:     # nobody saw its end
        time.sleep(MOST_LATER_S + 1)
    worked = float(result.out)
    page = database + ".html"
    report("html", database, "-o", page)
    with open(page) as file:
        html = file.read()
    found = {" ".join(form): seconds(report(*form, database).out, r"in 1 epoch, ([\d.]+) (m?s)\b")
             for form in [[], ["-v"], ["--markdown"]]}
    found["html"] = seconds(html, r"in 1 epoch, ([\d.]+) (m?s)\b")
    found["--json"] = json.loads(report("--json", database).out)["run"]["duration_s"]
    for form, duration in found.items():
        check(worked - 0.1 < duration < worked + MOST_LATER_S, name, form, duration, "where it took",
              worked)
    equal({row["exit"] for row in rows(database, "SELECT exit FROM process WHERE role = 'main'")},
          {"gone" if name == "killed" else "clean"}, name, "main")


def main():
    need_shim()
    need_torch()
    folder = scratch()
    with open(os.path.join(folder, "program.py"), "w") as file:
        file.write(PROGRAM)
    for name in ["well", "killed", "outlived", "threads"]:
        check_time(folder, name)
    library = os.path.join(folder, "libdlprof.so")
    shutil.copyfile(SHIM, library)
    for name in ["well", "killed"]:
        check_time(folder, name, library)
    finish()


main()
