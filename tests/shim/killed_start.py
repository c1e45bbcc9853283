# SPDX-License-Identifier: Apache-2.0
"""A process that is killed at any of the system calls by which it starts a run leaves nothing behind for good.

The database leads to all that the process had made: one dlprof-report removes that, and says what the
database holds.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, environment, equal, finish, need_shim, report, say,  # noqa: E402
                         scratch, skip, wait_for_drain)

CALL = re.compile(r"(\w+)\(.*")
PROGRAM = "/bin/true"


def start(folder, *strace):
    """Runs a program, which begins a run and ends, under strace; returns its segments' folder and its database."""
    segments, database = os.path.join(folder, "segments"), os.path.join(folder, "run.db")
    os.mkdir(segments)
    # strace itself must not be preloaded, but only the program.
    preload = environment()["LD_PRELOAD"]
    subprocess.run(["strace", "-o", os.path.join(folder, "calls"), *strace,
                    "-E", "LD_PRELOAD=" + preload, "-E", "DLPROF_ACTIVATE=always", PROGRAM],
                   env=environment(preload=False, TMPDIR=segments, DLPROF_OUT=database),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    return segments, database


def calls():
    """Returns (name, how many calls of that name so far) of each system call since the database was created."""
    folder, counts, found, begun = scratch(), {}, [], False
    _, database = start(folder)
    wait_for_drain(database)
    with open(os.path.join(folder, "calls")) as file:
        for line in file:
            match = CALL.match(line)
            if not match:
                continue
            name = match.group(1)
            counts[name] = counts.get(name, 0) + 1
            begun = begun or ('run.db"' in line and "O_CREAT" in line)
            if begun:
                found.append((name, counts[name]))
    return found


def kill_at(call, *denied):
    """Kills the program at a call; returns the call, the files that are left, and the report's answer or None."""
    folder = scratch()
    segments, database = start(folder, "-e", "trace=all", "-e",
                               "inject={}:signal=KILL:when={}".format(*call), *denied)
    wait_for_drain(database)
    if not os.path.exists(database):
        return call, os.listdir(segments), None
    answer = report(database)
    left = os.listdir(segments) + sorted(set(os.listdir(folder)) - {"segments", "calls", "run.db"})
    again = report(database)
    equal((again.status, again.err), (answer.status, answer.err), call, "a second report")
    return call, left, answer


def main():
    need_shim()
    if not shutil.which("strace") or subprocess.run(
            ["strace", "-o", "/dev/null", PROGRAM], stderr=subprocess.DEVNULL).returncode:
        skip("no strace")
    every, empty = calls(), 0
    check(len(every) > 20, "too few system calls", every)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for call, left, answer in pool.map(kill_at, every):
            equal(left, [], "killed at", *call, "left behind")
            if answer and answer.status == 2:
                empty += 1
                equal(answer.err.count("\n"), 1, call, "one sentence:", answer.err)
                check("stored nothing" in answer.err, call, answer.err)
            elif answer:
                equal(answer.status, 3, call, "exit status", answer.err)
    # Without renameat2() the segment gets its name by link(), and has two names until unlink().
    _, left, answer = kill_at(("unlinkat", 1), "-e", "inject=renameat2:error=EPERM")
    equal((left, answer.status), ([], 3), "killed between link() and unlink()")
    say(len(every), "calls, killed at each;", empty, "runs without any record")
    check(empty, "no kill came before the drain")
    finish()


main()
