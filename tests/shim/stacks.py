# SPDX-License-Identifier: Apache-2.0
"""A slow operation keeps its stack, and the drain names the frames.

usage: stacks.py PROGRAM
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, environment, equal, finish, need_shim, rows, run,  # noqa
                         scratch, wait_for_drain)


def recorded(out, **settings):
    data = os.path.join(scratch(), "data.bin")
    with open(data, "wb") as file:
        file.write(b"x" * (1 << 20))
    done = run([sys.argv[1], data], env=environment(
        True, DLPROF_ACTIVATE="always", DLPROF_OUT=out, DLPROF_QUIET="1", **settings))
    equal(done.status, 0, "exit status", done.err)
    wait_for_drain(out)
    return rows(out, "SELECT * FROM slow WHERE class = 'read' ORDER BY ts_ns")


def names(stack):
    return [line.split("+")[0] for line in stack.splitlines()]


def main():
    need_shim()
    slow = recorded(os.path.join(scratch(), "slow.db"), DLPROF_SLOW_US="1")
    equal(len(slow), 3, "slow reads")
    stacks = [names(row["stack"]) for row in slow if row["stack"]]
    if not stacks:
        print("built without libunwind")
        sys.exit(77)
    equal(len(stacks), 3, "stacks")
    equal(stacks[0][:3], ["innermost", "in_the_middle", "main"], "in the main thread")
    for stack in stacks[1:]:
        equal(stack[:3], ["innermost", "in_the_middle", "in_a_thread"], "in another thread")
    check(not any("libdlprof" in (row["stack"] or "") for row in slow), "no frame of ours")
    equal(recorded(os.path.join(scratch(), "off.db"), DLPROF_SLOW_US="1",
                   DLPROF_DETAIL="batches"), [], "at detail batches")
    finish()


main()
