# SPDX-License-Identifier: Apache-2.0
"""The share of a training's CPU time that is dlprof's, by sampling.

usage: profile.py WORK WORKERS EPOCHS IMAGES (of training_host.py)
TEST_PROFILES (3). Counted are the samples that lie in
the library, or in the kernel on its behalf, and those of the drain; not what the library makes
Python, libc and the caches do (turns.py has that, and is less exact). Needs perf.
"""
import collections
import math
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def whose(name, modules):
    """Of a sample: the process's name, and the modules of its stack, innermost first."""
    if name.startswith("dlprof-drain"):
        return "drain"
    user = [module for module in modules if not module.startswith("[kernel")]
    return "library" if user and user[0].endswith("/libdlprof.so") else "other"


def profile(command, folder):
    """Samples of a training and its drain: {whose: count}."""
    samples = os.path.join(folder, "perf.data")
    env = t.environment(False, DLPROF_OUT=os.path.join(folder, "run.db"), DLPROF_QUIET="1")
    # The preload is none of perf's; the drain has half a second to end in the profile.
    script = "LD_PRELOAD=$0 \"$@\" && sleep 0.5"
    done = subprocess.run(["perf", "record", "-q", "-F", "5000", "-e",
                           "cpu-clock/call-graph=fp,max-stack=40/", "-o", samples, "sh", "-c",
                           script, t.SHIM] + command, env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    if done.returncode:
        t.skip("perf may not record here")
    listed = subprocess.run(["perf", "script", "-i", samples, "-F", "comm,tid,ip,sym,dso"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            universal_newlines=True, errors="replace").stdout
    return collections.Counter(whose(block.lstrip(), re.findall(r"\((\S+)\)$", block, re.M))
                               for block in listed.split("\n\n") if block.strip())


def main():
    t.need_torch()
    t.need_shim()
    if not shutil.which("perf"):
        t.skip("there is no perf")
    command = [t.PYTHON, os.path.join(HERE, "training_host.py")] + sys.argv[1:] + [
        t.example_images()]
    counts = collections.Counter()
    for _ in range(int(os.environ.get("TEST_PROFILES", "3"))):
        counts.update(profile(command, t.scratch()))
    total = sum(counts.values())
    for name in ("library", "drain"):
        share = counts[name] / total
        t.say("samples in the {}: {:.3f} % of {}, standard error {:.3f} %".format(
            name, 100 * share, total, 100 * math.sqrt(share * (1 - share) / total)))
        t.check(counts[name], "no sample in the", name)
    t.finish()


main()
