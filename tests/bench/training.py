# SPDX-License-Identifier: Apache-2.0
"""CPU seconds of examples/train.py with the preload over those without: alternating pairs.

TEST_PAIRS (10) pairs; TEST_WORKERS (2). TEST_MODEL: instead of the example, crops of 224 pixels for
a ResNet-18 (resnet18) or for nothing (none), of TEST_IMAGES (256) images. The drain is no child of
the training, and not in the ratio; its own CPU time is read from /proc while it lives, and stated
apart.

Pairs differ by more than is looked for. So, where there is perf, also the share of the samples of
a profile (TEST_PROFILES, 3) that lie in the library, or in the kernel on its behalf, and that lie
in the drain; not in it is what the library makes Python, libc and the caches do.
"""
import collections
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (BUILD, PYTHON, ROOT, SHIM, check, drains, environment, equal,  # noqa
                         finish, need_shim, need_torch, say, scratch, wait_for_drain)

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    try:
        with open("/proc/{}/stat".format(pid)) as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except (OSError, IndexError):
        return 0.0


def command(data):
    model, workers = os.environ.get("TEST_MODEL"), os.environ.get("TEST_WORKERS", "2")
    if model:
        return [PYTHON, os.path.join(ROOT, "tests", "bench", "training_host.py"), data, model,
                os.environ.get("TEST_IMAGES", "256"), workers]
    return [PYTHON, os.path.join(ROOT, "examples", "train.py"), "--data", data, "--workers",
            workers, "--epochs", os.environ.get("TEST_EPOCHS", "2")]


def train(data, database):
    """CPU seconds of the training and its workers, wall seconds, CPU seconds of the drain."""
    env = environment(bool(database), DLPROF_OUT=database, DLPROF_QUIET="1")
    begin = time.monotonic()
    process = subprocess.Popen(command(data), env=env, stdout=subprocess.DEVNULL)
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


def whose(name, modules):
    """Of a sample: the process's name, and the modules of its stack, innermost first."""
    if name.startswith("dlprof-drain"):
        return "drain"
    user = [module for module in modules if not module.startswith("[kernel")]
    return "library" if user and user[0].endswith("/libdlprof.so") else "other"


def profile(data, database):
    """Samples of a training and its drain: {whose: count}."""
    samples = os.path.join(os.path.dirname(database), "perf.data")
    # The preload is none of perf's; the drain has half a second to end in the profile.
    script = "LD_PRELOAD=$0 \"$@\" && sleep 0.5"
    done = subprocess.run(["perf", "record", "-q", "-F", "5000", "-e",
                           "cpu-clock/call-graph=fp,max-stack=40/", "-o", samples, "sh", "-c",
                           script, SHIM] + command(data),
                          env=environment(False, DLPROF_OUT=database, DLPROF_QUIET="1"),
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode:
        return {}
    listed = subprocess.run(["perf", "script", "-i", samples, "-F", "comm,tid,ip,sym,dso"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            universal_newlines=True, errors="replace").stdout
    return collections.Counter(whose(block.lstrip(), re.findall(r"\((\S+)\)$", block, re.M))
                               for block in listed.split("\n\n") if block.strip())


def tell_shares(data):
    """Without perf, or the right to use it, nothing."""
    counts = collections.Counter()
    for _ in range(int(os.environ.get("TEST_PROFILES", "3")) if shutil.which("perf") else 0):
        counts.update(profile(data, os.path.join(scratch(), "run.db")))
    total = sum(counts.values())
    for name in ("library", "drain") if total else ():
        share = counts[name] / total
        say("samples in the {}: {:.3f} % of {}, standard error {:.3f} %".format(
            name, 100 * share, total, 100 * math.sqrt(share * (1 - share) / total)))
        check(counts[name], "no sample in the", name)


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
    tell_shares(data)
    finish()


main()
