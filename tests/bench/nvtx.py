# SPDX-License-Identifier: Apache-2.0
"""What a range of NVTX costs the program: not asked for, kept, left out as there are many, too deep.

usage: nvtx.py HOST: the build of tests/e2e/nvtx_host.c. Nanoseconds of a push and a pop, the least of
200 rounds; "a step" is what says where steps begin.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import environment, run, say, scratch, wait_for_drain  # noqa: E402

DEEP = ["0 push a"] * 4
CASES = {
    "no preload": (False, "1", ["0 measure range"]),
    "not asked for": (True, None, ["0 measure range"]),
    "left out, there are too many": (True, "1", ["0 measure range"]),
    "deeper than four": (True, "1", DEEP + ["0 measure range"]),
    "kept": (True, "1", ["0 kept range"]),
    "a step, kept": (True, "1", ["0 kept step"]),
}


def main():
    for name, (preload, asked, script) in CASES.items():
        database = os.path.join(scratch(), "run.db")
        done = run([sys.argv[1]], text_in="\n".join(script) + "\n",
                   env=environment(preload, DLPROF_NVTX=asked, DLPROF_OUT=database))
        wait_for_drain(database)
        values = [line.split(" ")[1] for line in done.out.splitlines() if line.startswith("range ")]
        say("{:32s} {:>7s} ns".format(name, values[0]))


main()
