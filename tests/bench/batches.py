# SPDX-License-Identifier: Apache-2.0
"""What a batch costs: CPU time of main process and workers, bytes of database, CPU of the drain.

Batches of nothing, for the CPU time: alternating pairs, medians. Then 100 batches a second of two
files each for 20 s, for the database and the drain. TEST_PAIRS (7).
"""
import os
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, drains, environment, equal, finish, need_shim,  # noqa
                         need_torch, rows, run, say, scratch, wait_for_drain)

LOADER = """
import os, resource, sys, time
import torch
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(1)
workers, batches, rate, folder = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]

class Nothing(Dataset):
    def __len__(self):
        return batches
    def __getitem__(self, index):
        return 0

class Files(Dataset):
    def __len__(self):
        return 2 * batches
    def __getitem__(self, index):
        with open(os.path.join(folder, str(index % 100)), "rb") as file:
            return len(file.read())

data, size = (Files(), 2) if rate else (Nothing(), None)
def spent():
    each = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in each)
begin, due = spent(), time.monotonic()
for batch in DataLoader(data, batch_size=size, num_workers=workers):
    if rate:
        due += 1 / rate
        time.sleep(max(0, due - time.monotonic()))
del batch
print("CPU", spent() - begin)
"""
TICKS = os.sysconf("SC_CLK_TCK")


def load(workers, batches, database):
    env = environment(bool(database), DLPROF_OUT=database, DLPROF_QUIET="1")
    done = run([PYTHON, "-c", LOADER, str(workers), str(batches), "0", "-"], env=env)
    equal(done.status, 0, "status", done.err)
    if database:
        wait_for_drain(database)
    return float(re.search(r"CPU (\S+)", done.out).group(1)) / batches * 1e6


def costs(folder):
    for workers, batches in ((0, 50000), (2, 20000)):
        found = {False: [], True: []}
        for i in range(int(os.environ.get("TEST_PAIRS", "7"))):
            for preload in (False, True) if i % 2 else (True, False):
                database = os.path.join(folder, "{}-{}.db".format(workers, i))
                found[preload].append(load(workers, batches, database if preload else None))
        added = [ours - bare for bare, ours in zip(found[False], found[True])]
        say("{} workers: {:.1f} us of CPU a batch, {:+.1f} with the preload "
            "({:+.1f} to {:+.1f}, pair by pair)".format(
                workers, statistics.median(found[False]), statistics.median(added),
                min(added), max(added)))


def drain_at_rate(folder):
    for i in range(100):
        with open(os.path.join(folder, str(i)), "wb") as file:
            file.write(b"x" * 100000)
    sizes = []
    for batches in (500, 2000):
        database = os.path.join(folder, "rate-{}.db".format(batches))
        process = subprocess.Popen(
            [PYTHON, "-c", LOADER, "2", str(batches), "100", folder], stdout=subprocess.DEVNULL,
            env=environment(True, DLPROF_OUT=database, DLPROF_QUIET="1"))
        used = 0.0
        while process.poll() is None:
            for pid in drains(database)[:1]:
                try:
                    with open("/proc/{}/stat".format(pid)) as file:
                        fields = file.read().rpartition(")")[2].split()
                    used = (int(fields[11]) + int(fields[12])) / TICKS
                except OSError:
                    pass
            time.sleep(0.2)
        equal(process.returncode, 0, "status")
        wait_for_drain(database)
        equal(len(rows(database, "SELECT batch FROM batch")), batches, "batches")
        sizes.append(os.path.getsize(database))
        slow = rows(database, "SELECT count(*) AS n FROM t_slow")[0]["n"]
        say("{} batches at 100 a second: database {} bytes, {} slow operations; drain {:.2f} s of "
            "CPU, {:.2f} % of a core".format(batches, sizes[-1], slow, used, used / batches * 1e4))
    say("bytes of database a batch, from one to the other: {:.0f}".format(
        (sizes[1] - sizes[0]) / 1500))


def main():
    need_torch()
    need_shim()
    folder = scratch()
    costs(folder)
    drain_at_rate(folder)
    check(True, "measured")
    finish()


main()
