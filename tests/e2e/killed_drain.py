# SPDX-License-Identifier: Apache-2.0
"""Killed at any of its system calls, the drain leaves a run that one dlprof-report finishes."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (DRAIN, check, equal, finish, need_shim, report, rows,  # noqa: E402
                         run_without_drain, say, scratch, skip)

CALL = re.compile(r"(\w+)\(")
STEP = 3  # of so many calls one


def drain(database, segments, *strace):
    """Its system calls, in order."""
    log = os.path.join(scratch(), "calls")
    subprocess.run(["strace", "-o", log, *strace, DRAIN, segments, database],
                   stderr=subprocess.DEVNULL, timeout=60)
    with open(log) as file:
        return [match.group(1) for match in map(CALL.match, file) if match]


def kill_at(call):
    database, segments = run_without_drain()
    drain(database, segments, "-e", "inject={}:signal=KILL:when={}".format(*call))
    answer = report(database)
    equal(answer.status, 3, call, "exit status", answer.err)
    equal(os.listdir(os.path.dirname(database)), ["run.db"], "killed at", *call, "left behind")
    equal(rows(database, "SELECT count(*) AS processes FROM process"), [{"processes": 1}], call)


def main():
    need_shim()
    if not shutil.which("strace") or subprocess.run(
            ["strace", "-o", "/dev/null", "/bin/true"], stderr=subprocess.DEVNULL).returncode:
        skip("no strace")
    database, segments = run_without_drain()
    names = drain(database, segments)
    equal(os.listdir(os.path.dirname(database)), ["run.db"], "not killed: left behind")
    every = [(name, names[:i + 1].count(name)) for i, name in enumerate(names)]
    # The ones that begin the program are not ours, and the last ones are all tried.
    first = next((i for i, call in enumerate(every) if call[0] == "flock"), 0)
    chosen = every[first:-60:STEP] + every[-60:]
    check(first and len(chosen) > 60, "too few system calls", names)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(kill_at, chosen))
    say(len(every), "calls, killed at", len(chosen))
    finish()


main()
