# SPDX-License-Identifier: Apache-2.0
"""The folder of segments is removed while a training records, as cleaners of /tmp do: the run goes on.

Its workers do not persist, so that every epoch has new ones, each of which needs a segment.
"""
import json
import os
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, databases, environment, equal, finish,  # noqa: E402
                         need_shim, need_torch, rows, say, scratch, use_stub, wait_for_drain)

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sleeper.py")
PLAN = {"workers": 2, "load_s": 0.008, "step_s": 0.004, "batches": 50, "epochs": 6}
COUNT = PLAN["batches"] * PLAN["epochs"]
SPAWN = {"start": "spawn", "batches": 100, "epochs": 3}  # workers that take a second to start


class Training:
    """One, and what it has delivered so far."""

    def __init__(self, **plan):
        self.folder, self.segments = scratch(), scratch()
        self.log = os.path.join(self.folder, "log.json")
        self.database = os.path.join(self.folder, "run.db")
        self.process = subprocess.Popen(
            [PYTHON, "-W", "ignore", SLEEPER, self.log, json.dumps(dict(PLAN, **plan))],
            env=environment(DLPROF_OUT=self.database, TMPDIR=self.segments),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def delivered(self):
        try:
            with open(self.log) as file:
                return file.read().count("\n")
        except OSError:
            return 0

    def wait_for(self, batches):
        while self.delivered() < batches and self.process.poll() is None:
            time.sleep(0.002)

    def remove_folder(self):
        for name in os.listdir(self.segments):
            if name.startswith("dlprof-"):
                shutil.rmtree(os.path.join(self.segments, name), ignore_errors=True)

    def end(self, name):
        equal(self.process.wait(120), 0, name, "exit status")
        wait_for_drain(self.database)
        equal(databases(self.folder), [self.database], name, "databases")
        equal([entry for entry in os.listdir(self.segments) if entry.startswith("dlprof-")], [],
              name, "left behind")
        equal(os.path.lexists(self.database + "-segments"), False, name, "the link")


def check_once(name, **plan):
    training = Training(**plan)
    training.wait_for(COUNT // 3)
    training.remove_folder()
    training.end(name)
    found = rows(training.database, "SELECT count(*) AS batches, count(load_ns) AS loads, "
                                    "count(DISTINCT worker_id) AS workers FROM batch")[0]
    equal(found, {"batches": COUNT, "loads": COUNT, "workers": 2}, name)
    equal(rows(training.database, "SELECT count(*) AS notes FROM note WHERE level = 'warning' "
                                  "AND text LIKE '%was removed while%'")[0]["notes"], 1, name)


def check_again_and_again():
    """No worker begins a run of its own, and no batch is lost, however often and whenever."""
    name = "many times:"
    training = Training(epochs=10, batches=30)
    training.wait_for(1)
    removed = []
    thread = threading.Thread(target=lambda: [
        (training.remove_folder(), removed.append(None), time.sleep(0.05))
        for _ in range(10000) if training.process.poll() is None])
    thread.start()
    training.process.wait(120)
    thread.join()
    training.end(name)
    found = rows(training.database, "SELECT count(*) AS batches, count(load_ns) AS loads "
                                    "FROM batch")[0]
    equal(found["batches"], 300, name)
    # What is removed before the drain has opened it is gone.
    check(found["loads"] > 0, name, "no load")
    say(name, "removed", len(removed), "times,", found["loads"], "loads of 300")


def check_base():
    """Nor when even the folder around it goes: then the workers are not seen, the waits are."""
    name = "with all around it:"
    training = Training(step_s=0.01)
    training.wait_for(COUNT // 3)
    shutil.rmtree(training.segments)
    equal(training.process.wait(120), 0, name, "exit status")
    wait_for_drain(training.database)
    equal(databases(training.folder), [training.database], name, "databases")
    equal(rows(training.database, "SELECT count(*) AS batches FROM batch"), [{"batches": COUNT}],
          name)
    equal(rows(training.database, "SELECT count(*) AS notes FROM note WHERE level = 'warning' "
                                  "AND text LIKE '%cannot be made again%'")[0]["notes"], 1, name)


def main():
    need_torch()
    need_shim()
    check_once("fork:")
    check_once("spawn:", **SPAWN)
    use_stub()
    check_again_and_again()
    check_base()
    finish()


main()
