# SPDX-License-Identifier: Apache-2.0
"""Memcheck finds the same errors in a program with and without the preload: dlprof adds none.

usage: valgrind.py BUSY: the program of busy.c.
"""
import os
import re
import shutil
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, databases, environment, equal, finish, need_shim,  # noqa
                         run, say, scratch, skip, wait_for_drain)

SNIPPET = """
import json
total = 0
for i in range(5):
    with open("data", "rb") as file:
        total += len(file.read())
print(json.dumps(total))
"""


def memcheck(argv, preload, **changes):
    """Returns status, output, and the kinds of errors with the functions in which Memcheck found them."""
    folder = scratch()
    with open(os.path.join(folder, "data"), "w") as data:
        data.write("0123456789 abcdefghij\n" * 500)
    report = os.path.join(folder, "memcheck.xml")
    env = environment(preload, PYTHONMALLOC="malloc", TMPDIR=folder, DLPROF_QUIET=1,
                      DLPROF_OUT=os.path.join(folder, "run.db"), **changes)
    done = run(["valgrind", "-q", "--leak-check=no", "--child-silent-after-fork=yes", "--xml=yes",
                "--xml-file=" + report] + argv, env=env, cwd=folder, timeout=250)
    wait_for_drain(folder)
    found = []
    for error in xml.etree.ElementTree.parse(report).getroot().iter("error"):
        frames = [frame.findtext("fn") or frame.findtext("obj") for frame in error.iter("frame")]
        found.append((error.findtext("kind"), frames[0]))
    return (done.status, done.out, sorted(set(found))), bool(databases(folder)), done.err


def same(name, argv):
    plain, _, err = memcheck(argv, False)
    if not check(plain[0] in (0, 3), name, "runs under valgrind", plain, err[-500:]):
        return
    for when in (None, "always"):
        ours, recorded, err = memcheck(argv, True, DLPROF_ACTIVATE=when, DLPROF_DETAIL="all")
        for mine, theirs, what in zip(ours, plain, ("status", "output", "errors")):
            equal(mine, theirs, name, when, what, re.sub(r"\s+", " ", err)[-500:])
        equal(recorded, when == "always", name, when, "has recorded")


def main():
    need_shim()
    if not shutil.which("valgrind"):
        skip("no valgrind")
    if memcheck(["true"], False)[0][0]:
        skip("valgrind does not work here")
    same("busy", [os.path.abspath(sys.argv[1]), "5"])
    same("python", [PYTHON, "-I", "-S", "-c", SNIPPET])
    say("compared under valgrind")
    finish()


main()
