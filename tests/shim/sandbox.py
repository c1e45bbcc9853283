# SPDX-License-Identifier: Apache-2.0
"""A training is recorded whole where a sandbox or an older kernel refuses a system call of dlprof's;
and no sandbox kills a program, that does not record, for a system call that only dlprof makes.

seccomp refuses the calls, so that dlprof gets the same error as from such a kernel.
usage: sandbox.py PROGRAM (strict)
"""
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, SHIM, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, rows, run, sandboxed, say, scratch, skip, use_stub,
                         wait_for_drain)

SLEEPER, HOST = (os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", name)
                 for name in ("sleeper.py", "lives_host.py"))
PLAN = json.dumps({"workers": 2, "load_s": 0.004, "step_s": 0.002, "batches": 40})

SANDBOXES = {
    "names by links": ["renameat2=EPERM"],
    "no renameat2": ["renameat2=ENOSYS"],
    "neither renameat2 nor links": ["renameat2=EPERM", "link=EPERM"],
    "no wiping of pages in forked children": ["wipe=EINVAL"],
    "blocks by fallocate": ["populate=EINVAL"],
    "blocks by writing": ["populate=EINVAL", "fallocate=EOPNOTSUPP"],
    "no locks, no pidfd": ["lock=EPERM", "pidfd=ENOSYS"],
}


def check_whole(name, denied):
    folder = scratch()
    database = os.path.join(folder, "run.db")
    done = run(sandboxed(denied, [PYTHON, "-W", "ignore", SLEEPER, os.path.join(folder, "log"), PLAN]),
               env=environment(False, DLPROF_OUT=database, DLPROF_QUIET=1, TMPDIR=folder))
    equal((done.status, done.out, done.err[-500:]), (0, "trained 40\n", ""), name, "the training")
    wait_for_drain(database)
    if not equal(sorted(os.listdir(folder)), ["log", "run.db"], name, "left behind"):
        return
    found = rows(database, "SELECT COUNT(*) AS batches, COUNT(load_ns) AS loads FROM batch")[0]
    equal((found["batches"], found["loads"]), (40, 40), name, "batches and loads")
    equal(rows(database, "SELECT * FROM loss WHERE what = 'events'"), [], name, "lost")
    found = rows(database, "SELECT role, exit FROM process ORDER BY role")
    equal([(row["role"], row["exit"]) for row in found],
          [("main", "clean"), ("worker", "clean"), ("worker", "clean")], name, "processes")


# System calls that programs do not need without dlprof. Where all are refused dlprof does not record.
OURS = ("clock_gettime faccessat fstat ftruncate getrusage mkdirat prctl pwritev readlinkat renameat2 "
        "statx symlinkat").split()


def check_line(name, denied, expected):
    """Checks the line at exit, with stderr a pipe and with stderr a file."""
    folder = scratch()
    log = os.path.join(folder, "err")
    program = [PYTHON, HOST, os.path.join(folder, "log"), "marks:40:1:1"]
    for shell in ([], ["sh", "-c", 'exec "$@" 2>' + log, "sh"]):
        database = os.path.join(folder, "run{}.db".format(len(shell)))
        done = run(shell + sandboxed(denied, program),
                   env=environment(False, DLPROF_OUT=database, TMPDIR=folder))
        wait_for_drain(database)
        said = done.err
        if shell:
            with open(log) as file:
                said = file.read()
        equal(done.status, 0, name, "the program", said)
        check(re.fullmatch(expected, said), name, "the line", bool(shell), said)


def calls_of(argv):
    """Returns the numbers of the system calls that `argv` makes; None: strace does not work here."""
    path = os.path.join(scratch(), "calls")
    if not shutil.which("strace") or run(["strace", "-f", "-n", "-o", path] + argv,
                                         env=environment(False)).status:
        return None
    with open(path) as file:
        return sorted(set(map(int, re.findall(r"\[ *(\d+)\]", file.read()))))


def check_killed(strict):
    """A sandbox that allows only the program's own system calls does not kill it under dlprof, whether
    the program enters the sandbox itself or was started in it."""
    for how in ("end", "child", "signal"):
        done = run([strict, how], env=environment(False))
        if done.status == 77:
            return say("no filter that kills can be set:", done.err)
        equal((done.status, done.out, done.err), (0, "ok\n", ""), "bare", how)
        folder = scratch()
        for changes in ({}, {"DLPROF_DISABLE": "1"}):
            done = run([strict, how], env=environment(
                DLPROF_QUIET="1", DLPROF_OUT=os.path.join(folder, "run.db"), TMPDIR=folder, **changes))
            equal((done.status, done.out, done.err), (0, "ok\n", ""), "preloaded", how, changes)
        wait_for_drain(os.path.join(folder, "run.db"))
    for argv in (["/bin/true"], ["/bin/sh", "-c", "/bin/true; exit 0"], [PYTHON, "-S", "-c", "pass"]):
        calls = calls_of(argv)
        if not calls:
            say("no strace: what", argv, "calls is not known")
            continue
        inside = ["sh", "-c", 'exec "$@" 2>{}', "sh", strict, ",".join(map(str, calls))]
        for log in ("/dev/null", os.path.join(scratch(), "log"), "&2"):
            inside[2] = 'exec "$@" 2>' + log
            for preload in ([], ["LD_PRELOAD=" + SHIM]):
                done = run(inside + preload + argv, env=environment(False))
                equal(done.status, 0, argv, "in its own calls", log, preload, done.err)


def main():
    need_torch()
    need_shim()
    check_killed(os.path.abspath(sys.argv[1]))
    if run(sandboxed(["pidfd=ENOSYS"], ["true"]), env=environment(False)).status:
        skip("no seccomp filter can be set here")
    for name, denied in SANDBOXES.items():
        check_whole(name, denied)
        use_stub()  # a stub of torch will do from the second sandbox on
    check_line("no statx", ["statx=EPERM"], r"dlprof: 40 batches, \d+ % .*\n")
    check_line("an older kernel", ["statx=ENOSYS"], r"dlprof: 40 batches, \d+ % .*\n")
    check_line("nothing of ours", [name + "=EPERM" for name in OURS],
               r"dlprof: nothing was recorded: cannot .*: permission denied\n")
    finish()


main()
