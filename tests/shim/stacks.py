# SPDX-License-Identifier: Apache-2.0
"""A slow operation is recorded with its stack, whose frames the drain names.

usage: stacks.py PROGRAM
"""
import os
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, environment, equal, finish, need_shim, rows,  # noqa
                         scratch, wait_for_drain)

READS = 3
LOOK_S = 20  # seconds in which even a drain that hardly gets a core has looked


def slow_reads(out):
    return rows(out, "SELECT * FROM slow WHERE class = 'read' ORDER BY ts_ns")


def wait_for_stacks(out):
    end = time.monotonic() + LOOK_S
    while time.monotonic() < end:
        try:
            if sum(bool(row["stack"]) for row in slow_reads(out)) == READS:
                return
        except sqlite3.OperationalError:
            pass  # the database does not exist yet
        time.sleep(0.05)


def recorded(out, wait, **settings):
    data = os.path.join(scratch(), "data.bin")
    with open(data, "wb") as file:
        file.write(b"x" * (1 << 20))
    program = subprocess.Popen([sys.argv[1], data], stdin=subprocess.PIPE, env=environment(
        True, DLPROF_ACTIVATE="always", DLPROF_OUT=out, DLPROF_QUIET="1", **settings))
    wait(out)
    program.stdin.close()
    equal(program.wait(), 0, "exit status")
    wait_for_drain(out)
    return slow_reads(out)


def names(stack):
    return [line.split("+")[0] for line in stack.splitlines()]


def main():
    need_shim()
    slow = recorded(os.path.join(scratch(), "slow.db"), wait_for_stacks, DLPROF_SLOW_US="1")
    equal(len(slow), READS, "slow reads")
    stacks = [names(row["stack"]) for row in slow if row["stack"]]
    if not stacks:
        print("built without libunwind")
        sys.exit(77)
    equal(len(stacks), READS, "stacks")
    equal(stacks[0][:3], ["innermost", "in_the_middle", "main"], "in the main thread")
    for stack in stacks[1:]:
        equal(stack[:3], ["innermost", "in_the_middle", "in_a_thread"], "in another thread")
    check(not any("libdlprof" in (row["stack"] or "") for row in slow), "no frame of ours")
    equal(recorded(os.path.join(scratch(), "off.db"), lambda out: None, DLPROF_SLOW_US="1",
                   DLPROF_DETAIL="batches"), [], "at detail batches")
    finish()


main()
