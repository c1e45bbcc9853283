# SPDX-License-Identifier: Apache-2.0
"""What the preload adds to the start and end of a process that never records, in milliseconds.

Of it the constructor: a dlopen() of the library against one where the constructor returns at once.
"""
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import PYTHON, SHIM, check, environment, finish, need_shim, run, say  # noqa

PAIRS = 200


def once(argv, env):
    begin = time.monotonic_ns()
    pid = os.posix_spawn(argv[0], argv, env)
    _, status = os.waitpid(pid, 0)
    check(status == 0, argv, "status", status)
    return (time.monotonic_ns() - begin) / 1e6


LOAD = """
import ctypes, sys, time
begin = time.perf_counter_ns()
ctypes.CDLL(sys.argv[1])
print(time.perf_counter_ns() - begin)
"""


def constructor():
    """Microseconds of it, and of the dlopen() around it."""
    times = {None: [], "1": []}
    for i in range(PAIRS):
        for disable in (None, "1") if i % 2 else ("1", None):
            done = run([PYTHON, "-c", LOAD, SHIM], env=environment(False, DLPROF_DISABLE=disable))
            check(done.status == 0, "dlopen", done.err)
            times[disable].append(int(done.out) / 1e3)
    all_us, bare_us = (statistics.median(times[disable]) for disable in (None, "1"))
    say("constructor: {:.0f} us (least: {:.0f} us) of {:.0f} us to load the library".format(
        all_us - bare_us, min(times[None]) - min(times["1"]), all_us))


def main():
    need_shim()
    constructor()
    for argv in (["/bin/true"], ["/bin/ls", "/"], [PYTHON, "-c", "pass"]):
        null = os.open("/dev/null", os.O_WRONLY)
        kept = os.dup(1)
        os.dup2(null, 1)
        times = {False: [], True: []}
        for i in range(PAIRS):
            for preload in (False, True) if i % 2 else (True, False):
                times[preload].append(once(argv, environment(preload)))
        os.dup2(kept, 1)
        bare, ours = statistics.median(times[False]), statistics.median(times[True])
        say("{}: bare {:.3f} ms, added {:+.3f} ms (least: {:+.3f} ms)".format(
            " ".join(argv), bare, ours - bare, min(times[True]) - min(times[False])))
    finish()


main()
