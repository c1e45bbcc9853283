# SPDX-License-Identifier: Apache-2.0
"""One CPython, every way to start workers, with and without `-I -E -S -X dev`: all is recorded.

usage: interpreter.py 3.12. Skips where that interpreter is not installed. Its torch is the stub.
"""
import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, environment, equal, finish, need_shim, rows, run, say,  # noqa
                         scratch, skip, wait_for_drain)
import stub  # noqa: E402

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sleeper.py")
FLAGS = {"no flags": [], "-I -E -S -X dev": ["-I", "-E", "-S", "-X", "dev"]}
STARTS = {"no workers": {"workers": 0}, "fork": {"workers": 2, "start": "fork"},
          "spawn": {"workers": 2, "start": "spawn"},
          "forkserver": {"workers": 2, "start": "forkserver"}}


def find(version):
    """Every interpreter of this version that starts: the system's and pyenv's."""
    root = os.environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    names = ["/usr/bin/python" + version, "/usr/local/bin/python" + version]
    names += sorted(glob.glob(os.path.join(root, "versions", version + ".*", "bin", "python3")))
    for name in names:
        if os.path.exists(name):
            test = [name, "-c", "import multiprocessing.synchronize"]
            if subprocess.run(test, stderr=subprocess.DEVNULL).returncode == 0:
                yield name


def train(python, flags, plan, folder, database):
    """Exit status, output and the script's log; without the preload if `database` is None."""
    log = os.path.join(folder, "log-{}.json".format(len(os.listdir(folder))))
    env = environment(preload=bool(database), TEST_STUB=folder, DLPROF_OUT=database)
    done = run([python] + flags + [SLEEPER, log, json.dumps(plan)], env=env)
    with open(log) as file:
        truth = [json.loads(line) for line in file]
    check(truth and truth.pop().get("end"), "the script came to its end", done.err[-2000:])
    return done, truth


def errors(text):
    """Only our exit line may be new. CPython 3.13's resource tracker complains of its own accord
    about a semaphore that the queue has just removed: in 2 of 30 runs without the preload."""
    return [line for line in text.splitlines() if not line.startswith("dlprof:")
            and "resource_tracker" not in line and not line.startswith("  warnings.warn(")]


def check_run(name, python, flags, plan):
    folder = scratch()
    database = os.path.join(folder, "run.db")
    if not stub.make(folder):
        skip("no installed torch to take the DataLoader from")
    # 7: a status that no crash and no clean end has.
    done, truth = train(python, flags, dict(plan, status=7), folder, database)
    equal(done.status, 7, name, "exit status", done.err[-2000:])
    equal(errors(done.err), [], name, "stderr")
    wait_for_drain(database)
    if not check(os.path.exists(database), name, "no database", done.err[-2000:]):
        return
    found = rows(database, "SELECT b.batch, b.worker_id, l.pid FROM batch b "
                 "LEFT JOIN load l USING (loader_id, epoch, batch) ORDER BY b.begin_ns")
    equal([(r["batch"], r["worker_id"], r["pid"]) for r in found],
          [(t["batch"], t["worker"], t["pid"]) for t in truth], name, "batch, worker and pid")


def main():
    need_shim()
    pythons = list(find(sys.argv[1]))
    if not pythons:
        skip("no CPython {0}: neither Debian's package python{0} nor pyenv's".format(sys.argv[1]))
    for python in pythons:
        for start, options in STARTS.items():
            for flag_name, flags in FLAGS.items():
                plan = dict(options, load_s=0.005, step_s=0.001, batches=12)
                check_run("{}, {}, {}:".format(python, start, flag_name), python, flags, plan)
    say(len(pythons), "interpreters,", len(STARTS) * len(FLAGS), "ways each")
    finish()


if __name__ == "__main__":
    main()
