# SPDX-License-Identifier: Apache-2.0
"""A program sees the same of its own Python objects with and without the preload.

Runs each program in objects/ with and without it, and compares exit status, standard output and error. The
last line that a program prints says that it came to its end.
"""
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, databases, environment, equal, finish, need_shim,  # noqa
                         need_torch, run, say, scratch, wait_for_drain)

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "objects", "*.py")


def main():
    need_shim()
    need_torch()
    for path in sorted(glob.glob(PROGRAMS)):
        name, folder = os.path.basename(path), scratch()
        plain = run([PYTHON, path], env=environment(False))
        ours = run([PYTHON, path],
                   env=environment(True, DLPROF_OUT=os.path.join(folder, "run.db"),
                                   DLPROF_QUIET=1))
        check(plain.out.endswith("end\n"), name, "came to its end without us", plain.err)
        for what in ("status", "out", "err"):
            equal(getattr(ours, what), getattr(plain, what), name, what)
        wait_for_drain(folder)
        # Equal output proves something only if dlprof has recorded.
        check(databases(folder), name, "has recorded")
        say(name, "compared")
    finish()


main()
