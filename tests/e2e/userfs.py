# SPDX-License-Identifier: Apache-2.0
"""On a file system without locks, without shared memory, or of a user-space program, a run is
stored like any other: delivered while it records, read live, and nothing is left beside it."""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         report, say, scratch, skip, wait_for_drain)

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sleeper.py")
BATCHES = 300
PLAN = {"workers": 2, "load_s": 0.01, "step_s": 0.01, "batches": BATCHES}


class Mount:
    def __init__(self, program, *words):
        self.behind, self.folder = scratch(), scratch()
        self.process = subprocess.Popen([program, self.behind, self.folder] + list(words),
                                        stderr=subprocess.PIPE)
        end = time.monotonic() + 10
        while not os.path.ismount(self.folder):
            if self.process.poll() is not None or time.monotonic() > end:
                skip("FUSE cannot be used here: {}".format(self.process.stderr.read()))
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.folder])
        self.process.wait(10)


def judged(database, name, least):
    done = report("--json", database)
    equal(done.status, 0, name, "status", done.err)
    count = json.loads(done.out)["stall"]["batches"] if done.out else -1
    check(least <= count <= BATCHES, name, count, "batches; at least", least)


def check_run(program, *words):
    name, tmp = " ".join(words) + ":", scratch()
    with Mount(program, *words) as mount:
        database = os.path.join(mount.folder, "run.db")
        process = subprocess.Popen(
            [PYTHON, "-W", "ignore", SLEEPER, os.path.join(tmp, "log.json"), json.dumps(PLAN)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(DLPROF_OUT=database, TMPDIR=tmp))
        end = time.monotonic() + 60
        while not os.path.exists(database) and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(2)
        # The newest is read, not the last that was delivered.
        judged(database, name + " live:", 20)
        equal(sorted(os.listdir(mount.folder)), ["run.db", "run.db-segments"], name, "beside it")
        check(os.path.getsize(database) > 0, name, "nothing was delivered while it recorded")
        out, err = process.communicate(timeout=120)
        equal(out, b"trained %d\n" % BATCHES, name, "the program", err)
        line = err.decode()
        say(name, line.strip())
        check(line.endswith("dlprof-report {}\n".format(database)), name, "the line at exit", line)
        wait_for_drain(database)
        judged(database, name, BATCHES)
        equal(os.listdir(mount.folder), ["run.db"], name, "left beside it")
        equal([n for n in os.listdir(tmp) if n.startswith("dlprof-")], [], name, "left behind")
        equal(os.stat(database).st_mode & 0o777, 0o600, name, "mode")


def main():
    need_torch()
    need_shim()
    for words in (["nolock"], ["nomap"], ["nolock", "nomap"]):
        check_run(sys.argv[1], *words)
    finish()


main()
