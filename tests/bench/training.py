# SPDX-License-Identifier: Apache-2.0
"""CPU seconds of examples/train.py with the preload over those without: alternating pairs.

TEST_PAIRS (10) pairs; TEST_WORKERS (2). The drain is no child of the training, and not in the
ratio; its own CPU time is read from /proc while it lives, and stated apart.
"""
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (BUILD, PYTHON, ROOT, check, drains, environment, equal,  # noqa
                         finish, need_shim, need_torch, say, scratch, wait_for_drain)

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    try:
        with open("/proc/{}/stat".format(pid)) as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except (OSError, IndexError):
        return 0.0


def train(data, database):
    """CPU seconds of the training and its workers, wall seconds, CPU seconds of the drain."""
    env = environment(bool(database), DLPROF_OUT=database, DLPROF_QUIET="1")
    argv = [PYTHON, os.path.join(ROOT, "examples", "train.py"), "--data", data, "--workers",
            os.environ.get("TEST_WORKERS", "2"), "--epochs", os.environ.get("TEST_EPOCHS", "2")]
    begin = time.monotonic()
    process = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL)
    drain, found = 0.0, []
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if database and not found:
            found = drains(database)
        drain = max([drain] + [cpu_of(each) for each in found])
        time.sleep(0.2)
    process.returncode = status
    equal(status, 0, "status")
    wall = time.monotonic() - begin
    while found and os.path.exists("/proc/{}".format(found[0])):
        drain = max(drain, cpu_of(found[0]))
        time.sleep(0.002)
    if database:
        wait_for_drain(database)
    return usage.ru_utime + usage.ru_stime, wall, drain


def main():
    need_torch()
    need_shim()
    data = os.path.join(BUILD, "images")
    if not os.path.isdir(data):
        data = scratch()
        subprocess.run([PYTHON, os.path.join(ROOT, "examples", "make_images.py"), data],
                       check=True)
    ratios, walls, drained = [], [], []
    train(data, None)  # the files into the page cache
    for i in range(int(os.environ.get("TEST_PAIRS", "10"))):
        database = os.path.join(scratch(), "run.db")
        if i % 2:
            bare, ours = train(data, None), train(data, database)
        else:
            ours, bare = train(data, database), train(data, None)
        check(os.path.getsize(database) > 0, "no database")
        ratios.append(ours[0] / bare[0])
        walls.append(ours[1] / bare[1])
        drained.append(ours[2])
        say("pair {}: {:.2f} s without, {:.2f} s with, drain {:.2f} s".format(
            i + 1, bare[0], ours[0], ours[2]))
    for name, values in (("CPU seconds", ratios), ("wall seconds", walls)):
        say("{} with over without: median {:.4f}, range {:.4f} to {:.4f}".format(
            name, statistics.median(values), min(values), max(values)))
    say("CPU seconds of the drain: median {:.2f}".format(statistics.median(drained)))
    finish()


main()
