# SPDX-License-Identifier: Apache-2.0
"""Nanoseconds that the preload adds to a call: in a process that records, and in one that does not.

FLOOR is a preload that reads the CPU's counter twice around pread() and does nothing else.

usage: calls.py [--floor FLOOR] PERCALL [ARGUMENT...]
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, environment, equal, finish, need_shim, run, say,  # noqa
                         scratch, wait_for_drain)

ROUNDS = 5


def measure(argv, env):
    done = run(argv, env=env)
    equal(done.status, 0, "exit status", done.err)
    return {line.split(": ")[0]: float(line.split(": ")[1]) for line in done.out.splitlines()}


def main():
    need_shim()
    argv, kinds = sys.argv[1:], {"bare": environment(False)}
    if argv[0] == "--floor":
        kinds["floor"] = environment(False, LD_PRELOAD=argv[1])
        argv = argv[2:]
    out = os.path.join(scratch(), "run.db")
    recording = {"DLPROF_ACTIVATE": "always", "DLPROF_QUIET": "1", "DLPROF_OUT": out}
    kinds.update(idle=environment(True), recording=environment(True, **recording))
    found = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind, env in kinds.items():
            found[kind].append(measure(argv, env))
    for name in found["bare"][0]:
        median = {kind: statistics.median(one[name] for one in found[kind]) for kind in kinds}
        say("{}: bare {:.1f} ns,".format(name, median["bare"]), ", ".join(
            "{} {:+.1f} ns".format(kind, median[kind] - median["bare"])
            for kind in kinds if kind != "bare"))
    check(True, "measured")
    wait_for_drain(out)
    finish()


main()
