# SPDX-License-Identifier: Apache-2.0
"""A program has the same descriptors, threads, signals and children with and without the preload.

A shell, a bare Python, and a training with its workers print what /proc says of them. Only the mapped
segments, which are not printed, may show dlprof.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, databases, environment, equal, finish, need_shim,  # noqa
                         need_torch, run, say, scratch, wait_for_drain)

HERE = os.path.dirname(os.path.abspath(__file__))
# The shell has no pipe open while it lists its descriptors. It reads its status by `read`, since a shell
# blocks signals while it starts a child.
SHELL = r"""
ls -l /proc/$$/fd > fds
sed 's/.* \([0-9]* ->\)/\1/; s/:\[[0-9]*\]//' fds
rm fds
while read key value; do
	case $key in
	Threads:|Sig???:|Seccomp:|FDSize:|Umask:|NoNewPrivs:) echo $key $value ;;
	esac
done < /proc/$$/status
jobs; umask; ulimit -a
"""
BARE = "import sys; sys.path.insert(0, {!r}); import selfie; print(selfie.text())".format(
    os.path.join(HERE))


def both(name, argv, **changes):
    """Compares standard output, error and status of a program with and without the preload; returns its folder."""
    folder = scratch()
    kept = dict(changes, DLPROF_OUT=os.path.join(folder, "run.db"), TMPDIR=folder, DLPROF_QUIET=1)
    plain = run(argv, env=environment(False, **dict(changes, TMPDIR=folder)), cwd=folder)
    ours = run(argv, env=environment(True, **kept), cwd=folder)
    equal(ours.status, plain.status, name, "exit status", ours.err[-2000:])
    equal(ours.err, plain.err, name, "stderr")
    check(plain.out.strip(), name, "says something", plain.err)
    for mine, theirs in zip(ours.out.splitlines(), plain.out.splitlines()):
        equal(mine, theirs, name)
    equal(len(ours.out.splitlines()), len(plain.out.splitlines()), name, "lines")
    return folder


def main():
    need_shim()
    for name, argv in (("sh", ["sh", "-c", SHELL]), ("bash", ["bash", "-c", SHELL]),
                       ("python", [PYTHON, "-c", BARE]),
                       ("isolated python", [PYTHON, "-I", "-E", "-S", "-X", "dev", "-c", BARE])):
        folder = both(name, argv)
        equal(os.listdir(folder), [], name, "left behind")
        # The same holds for a process that records from its start.
        both(name + ", recording", argv, DLPROF_ACTIVATE="always")
    need_torch()
    for workers in (0, 2):
        name = "training with {} workers".format(workers)
        folder = both(name, [PYTHON, "-W", "ignore", os.path.join(HERE, "selfie.py"),
                             json.dumps({"workers": workers})])
        found = databases(folder)
        if equal(len(found), 1, name, "databases"):
            wait_for_drain(found[0])
            equal(sorted(os.listdir(folder)), ["run.db"], name, "left behind")
    say("sh, bash, python, training: compared")
    finish()


main()
