# SPDX-License-Identifier: Apache-2.0
"""A run whose processes have numbers of their own, or no /proc, or another one, is recorded whole.

Each run is a training of BATCHES batches by two workers, and in the end a report from outside: who
was the first process of a PID namespace takes the drain with it, and the report finishes the run.
"""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, REPORT, check, drains, environment, equal, finish,  # noqa
                         need_shim, need_torch, report, rows, run, scratch, skip, use_stub)

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sleeper.py")
BATCHES = 60
PLAN = json.dumps({"workers": 2, "load_s": 0.01, "step_s": 0.002, "batches": BATCHES})
OUTER_PROC = ["unshare", "-pf"]
OWN_PROC = ["unshare", "-pf", "--mount-proc"]
# PyTorch itself asks for the processor.
NO_PROC = ["unshare", "-m", "sh", "-c", 'cpus=$(cat /proc/cpuinfo) && mount -t tmpfs none /proc && '
           'echo "$cpus" > /proc/cpuinfo && exec "$@"', "sh"]
START_TIMEOUT_S = 60


def training(folder, prefix=(), log="log.json"):
    return list(prefix) + [PYTHON, "-W", "ignore", SLEEPER, os.path.join(folder, log), PLAN]


def setting(folder):
    return environment(DLPROF_OUT=os.path.join(folder, "run.db"), DLPROF_QUIET=1, TMPDIR=folder)


def delivered(folder, log="log.json"):
    try:
        with open(os.path.join(folder, log)) as file:
            return len(file.read().split("\n")) - 1
    except OSError:
        return 0


def check_whole(name, folder, batches=BATCHES):
    """Nothing is missing, and nothing left but the database and what the training wrote."""
    database = os.path.join(folder, "run.db")
    end = time.monotonic() + 30
    while drains(database) and time.monotonic() < end:
        time.sleep(0.02)
    equal(drains(database), [], name, "drains left")
    done = report(database)
    check(done.status in (0, 3), name, "dlprof-report", done.status, done.err)
    found = rows(database, "SELECT COUNT(*) AS batches, COUNT(load_ns) AS loads FROM batch")[0]
    equal((found["batches"], found["loads"]), (batches, batches), name, "batches and loads")
    equal(rows(database, "SELECT * FROM loss WHERE what = 'events'"), [], name, "lost")
    equal([file for file in os.listdir(folder) if not file.startswith("log")], ["run.db"], name,
          "left behind")


def check_namespace(name, prefix):
    """The process is the first of its namespace, or a shell is, which outlives it and the drain."""
    for shell in ((), ("sh", "-c", '"$@"; status=$?; sleep 2; exit $status', "sh")):
        folder = scratch()
        done = run(training(folder, list(prefix) + list(shell)), env=setting(folder))
        equal((done.status, done.err[-500:]), (0, ""), name, "exit status")
        check_whole(name + (" below a shell" if shell else ""), folder)


def check_child(name, prefix):
    """A child of the run in a namespace of its own, whose numbers mean others outside."""
    folder = scratch()
    program = ("import subprocess, sys, runpy\n"
               "child = subprocess.Popen({!r})\n"
               "sys.argv = {!r}\n"
               "runpy.run_path(sys.argv[0], run_name='__main__')\n"
               "sys.exit(child.wait())\n")
    # The parent's run begins with its first epoch: so does the child's training, a moment later.
    child = ["sh", "-c", 'sleep 1; exec "$@"', "sh"] + training(folder, prefix, "log-child.json")
    program = program.format(child, training(folder)[3:])
    done = run([PYTHON, "-W", "ignore", "-c", program],
               env=dict(setting(folder), DLPROF_ACTIVATE="always"))
    equal((done.status, done.err[-500:]), (0, ""), name, "exit status")
    check_whole(name, folder, 2 * BATCHES)


def check_report(name, prefix):
    """A report from elsewhere, while the training records and its drain has been killed."""
    folder = scratch()
    database = os.path.join(folder, "run.db")
    process = subprocess.Popen(training(folder), env=setting(folder), stdout=subprocess.DEVNULL)
    end = time.monotonic() + START_TIMEOUT_S
    while delivered(folder) < 5 and time.monotonic() < end:
        time.sleep(0.01)
    # It lives, and does not end before the reports do, however slow the machine is.
    os.kill(process.pid, signal.SIGSTOP)
    for pid in drains(database):
        os.kill(pid, signal.SIGKILL)
    for _ in range(2):
        done = run(list(prefix) + [REPORT, database], env=environment(preload=False))
        check(done.status in (0, 3), name, "dlprof-report", done.status, done.err)
    check(process.poll() is None, name, "the training had ended before the report did")
    os.kill(process.pid, signal.SIGCONT)
    equal(process.wait(), 0, name, "exit status")
    check_whole(name, folder)


def main():
    need_torch()
    need_shim()
    try:
        permitted = [prefix for prefix in (OUTER_PROC, OWN_PROC, NO_PROC)
                     if subprocess.run(prefix + ["true"], stderr=subprocess.DEVNULL).returncode == 0]
    except OSError:
        permitted = []
    if len(permitted) < 3:
        skip("no namespaces for this user here: unshare -pf, -m")
    check_namespace("the outer /proc:", OUTER_PROC)
    check_namespace("a namespace with its /proc:", OWN_PROC)
    check_namespace("no /proc:", NO_PROC)
    use_stub()
    check_child("a child with the outer /proc:", OUTER_PROC)
    check_child("a child with a /proc of its own:", OWN_PROC)
    check_child("a child without /proc:", NO_PROC)
    check_report("a report from another namespace:", OWN_PROC)
    check_report("a report without /proc:", NO_PROC)
    finish()


main()
