# SPDX-License-Identifier: Apache-2.0
"""A program that records and becomes others, which record as well; knows nothing of dlprof.

usage: lives_host.py LOG WORD...: one thing after the other.
marks:N:WAIT_MS:STEP_MS marks N batches; torch:N:W takes N batches of a DataLoader with W workers;
nap:MS; exec, exec=PROGRAM...: becomes this program anew, for what is left, or another one;
fork: a child does what is left, and this process ends as it does; kill: by SIGKILL.
LOG gets a line for each batch: when it was asked for, in hand and done with, by CLOCK_MONOTONIC.
"""
import ctypes
import os
import signal
import sys
import time


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def log(path, rows):
    with open(path, "a") as file:
        file.writelines("{} {} {} {}\n".format(os.getpid(), *row) for row in rows)


def marks(count, wait_ms, step_ms):
    shim = ctypes.CDLL(None)
    begin, end = (getattr(shim, "dlprof_batch_" + name, lambda *_: None)
                  for name in ("begin", "end"))
    rows = []
    for i in range(count):
        asked = now()
        begin()
        time.sleep(wait_ms / 1000)
        end(ctypes.c_int64(i))
        taken = now()
        time.sleep(step_ms / 1000)
        rows.append((asked, taken, now()))
    begin()
    end(ctypes.c_int64(-2))
    return rows


def torch(count, workers):
    from torch.utils.data import DataLoader

    class Samples:
        def __len__(self):
            return count

        def __getitem__(self, index):
            time.sleep(0.002)
            return index

    rows, asked = [], now()
    for _ in DataLoader(Samples(), batch_size=1, num_workers=workers):
        taken = now()
        time.sleep(0.003)
        rows.append((asked, taken, now()))
        asked = now()
    return rows


def main():
    path, words = sys.argv[1], sys.argv[2:]
    while words:
        name, *numbers = words.pop(0).split(":")
        if name == "marks":
            log(path, marks(*map(int, numbers)))
        elif name == "torch":
            log(path, torch(*map(int, numbers)))
        elif name == "nap":
            time.sleep(int(numbers[0]) / 1000)
        elif name == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif name == "fork":
            pid = os.fork()
            if pid:
                sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        else:
            program = name.split("=")[1].split() if "=" in name else []
            os.execvp((program or [sys.executable])[0], (program or []) + [
                sys.executable, "-W", "ignore", __file__, path] + words)


main()
