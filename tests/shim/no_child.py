# SPDX-License-Identifier: Apache-2.0
"""No wait() returns the drain to a program, neither to a subreaper nor to process 1 of a namespace."""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, report, rows,  # noqa
                         run, say, scratch, wait_for_drain)

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reaper_host.py")
NAMESPACE = ["unshare", "-pf", "--mount-proc"]
HANG_S = 20
MORE_S = 5.0  # seconds longer than without the preload; a wait for the drain would not end
SHELL = "sleep 0.3 & (exit 4) & wait; echo all $?; (exit 5) & wait $!; echo one $?; jobs; exit 6"


def host(preload, prefix, arguments, **changes):
    folder = scratch()
    database = os.path.join(folder, "run.db")
    done = run(prefix + arguments, timeout=HANG_S, cwd=folder, env=environment(
        preload, DLPROF_OUT=database, DLPROF_QUIET=1, TMPDIR=folder, **changes))
    wait_for_drain(database)
    if preload:
        # When process 1 ends the kernel kills the drain too: the report then takes up the records that are left.
        check(report(database).status in (0, 3), prefix, arguments, "report")
        done.batches = rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"]
    return done


def same(name, prefix, arguments, guarded):
    plain = host(False, prefix, [PYTHON, HOST] + arguments)
    ours = host(True, prefix, [PYTHON, HOST] + arguments)
    equal((ours.status, plain.status), (0, 0), name, ours.err[-2000:], plain.err[-2000:])
    # Five batches of each process: the main one, three children for each of five kinds of wait, two workers.
    equal(ours.batches, 5 * (1 + 3 * 5 + 2 * ("workers" in arguments)), name, "batches")
    lines = [[json.loads(line) for line in done.out.splitlines()] for done in (ours, plain)]
    if not equal(len(lines[0]), len(lines[1]), name, "lines"):
        return
    for mine, bare in zip(*lines):
        equal(mine.get("told"), bare.get("told"), name, "what wait() tells")
        equal(mine.get("workers"), bare.get("workers"), name, "workers")
        if "children" in mine:
            equal(mine["children"], bare["children"] + ["dlprof-guard"] * guarded, name, "children")
        if "s" in mine:
            say("{}: {:.2f} s, without {:.2f} s".format(name, mine["s"], bare["s"]))
            check(mine["s"] < bare["s"] + MORE_S, name, "takes", mine["s"], "not", bare["s"])


def same_shell(shell, prefix):
    if not shutil.which(shell):
        say("no", shell)
        return
    plain = host(False, prefix, [shell, "-c", SHELL])
    ours = host(True, prefix, [shell, "-c", SHELL], DLPROF_ACTIVATE="always")
    equal((ours.status, ours.out, ours.err), (plain.status, plain.out, plain.err), prefix, shell)


def main():
    need_shim()
    prefixes = [[]]
    if run(NAMESPACE + ["true"], env=environment(False)).status == 0:
        prefixes.append(NAMESPACE)
    else:
        say("no PID namespace may be made: process 1 is not tried")
    for prefix in prefixes:
        for marks in (["main"], ["thread"], ["main", "workers"]):
            name = " ".join(prefix + marks)
            same(name, prefix, ["plain"] + marks + ["waits"], int(bool(prefix)))
            same(name + ", subreaper", prefix, ["subreaper"] + marks + ["waits"], 1)
        for shell in ("bash", "dash"):
            same_shell(shell, prefix)
    finish()


main()
