# SPDX-License-Identifier: Apache-2.0
"""Each wrapped call has the result, errno, file mode and file contents that the C library's call has.

usage: calls.py early.so forks host-module.so HOST... -- OTHER...: the programs of this folder. Each runs
bare, under the preload, and under the preload that records from the start; all must print the same text.
host-module.so is called in a load: only there many wrappers do more than pass a call on.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, RUNNER, SHIM, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, run, say, scratch)

HERE = os.path.dirname(os.path.abspath(__file__))

RECORDING = {"DLPROF_ACTIVATE": "always", "DLPROF_DETAIL": "all", "DLPROF_QUIET": "1"}


def folder_with_data():
    folder = scratch()
    with open(os.path.join(folder, "data"), "w") as data:
        for i in range(2000):
            data.write("line {} word{} {}\n".format(i, i * 7, i * 37))
    return folder


def transcript(argv, **changes):
    folder = folder_with_data()
    if "DLPROF_ACTIVATE" in changes:
        changes.update(DLPROF_OUT=os.path.join(scratch(), "run.db"))
    done = run(RUNNER + argv, env=environment(changes.pop("preload", True), **changes), cwd=folder)
    names = sorted((name, oct(os.stat(os.path.join(folder, name)).st_mode),
                    os.stat(os.path.join(folder, name)).st_size) for name in os.listdir(folder))
    said = done.err
    if RUNNER:  # a shell that the emulated program starts is this machine's, and cannot preload its library
        said = "".join(line for line in said.splitlines(True) if "cannot be preloaded" not in line)
    return done.status, done.out, said, names


def same(name, argv, status=0, **changes):
    plain = transcript(argv, preload=False, LD_PRELOAD=changes.pop("bare", None))
    ours = transcript(argv, **changes)
    for mine, theirs, what in zip(ours, plain, ("status", "stdout", "stderr", "files")):
        if isinstance(mine, str):
            for a, b in zip(mine.splitlines(), theirs.splitlines()):
                equal(a, b, name, what)
            equal(len(mine), len(theirs), name, what, "length")
        else:
            equal(mine, theirs, name, what)
    # A program that ends too early could print the same text in all runs: the status tells.
    equal(plain[0], status, name, "exit status")
    return len(plain[1].splitlines())


def main():
    need_shim()
    end = sys.argv.index("--")
    early, forks, module, *hosts = [os.path.abspath(path) for path in sys.argv[1:end]]
    others = [os.path.abspath(path) for path in sys.argv[end + 1:]]
    for host in hosts:
        name = os.path.basename(host)
        lines = same(name, [host])
        same(name + ", recording", [host], **RECORDING)
        say(name, lines, "lines compared")
        check(lines > 400, name, "the program says too little to compare")
        for order in ("{early}:{shim}", "{shim}:{early}"):
            value = order.format(early=early, shim=SHIM)
            same(name + ", " + order, [host], bare=early, LD_PRELOAD=value)
            same(name + ", recording, " + order, [host], bare=early, LD_PRELOAD=value,
                 **RECORDING)
    # An emulator treats clone() and shared memory in its own way.
    if not RUNNER:
        same("forks", [forks, "300"])
        same("forks, recording", [forks, "300"], **RECORDING)
    # No lookup of the shim may fail, since ld.so would allocate memory; LD_DEBUG shows those that do.
    told = run(RUNNER + [others[0]], env=environment(LD_DEBUG="files")).err
    check("libdlprof.so" in told, "the loader tells what it does", told[:200])
    equal([line for line in told.splitlines() if "error" in line], [], "lookups that fail")
    for other in others:
        name = os.path.basename(other)
        status = 5 if name == "musl" else 0
        if name != "forked_walk":  # its marks make dlprof record in any case
            same(name, [other], status)
        same(name + ", recording", [other], status, **RECORDING)
        if name == "forked_walk":
            same(name + ", forkpty", [other, "400", "forkpty"], status, **RECORDING)
    if RUNNER:
        finish()
    need_torch()
    lines = same("in a load", [PYTHON, "-W", "ignore", os.path.join(HERE, "in_load.py"), module],
                 **RECORDING)
    check(lines > 400, "in a load", "the program says too little to compare")
    finish()


main()
