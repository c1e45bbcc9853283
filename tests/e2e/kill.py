# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of anything at any moment: what was delivered is kept, and training never fails of us.

TEST_KILL_ROUNDS (default 8) rounds; TEST_KILL_SEED repeats a sequence. Each round kills one of:
the training process, one worker, the drain, all of them at once.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, drains, environment, equal, finish, need_shim,  # noqa
                         need_torch, processes, report, rows, say, scratch, wait_for_drain)

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sleeper.py")
VICTIMS = ["main", "worker", "drain", "all"]
PLAN = {"workers": 3, "load_s": 0.012, "step_s": 0.002, "batches": 150, "epochs": 2}
START_TIMEOUT_S = 60


def wait_for(condition, timeout=START_TIMEOUT_S):
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def logged(log):
    """What the script wrote; a line that a kill cut short was not delivered to the end."""
    try:
        with open(log) as file:
            lines = file.read().split("\n")[:-1]
    except OSError:
        return []
    return [json.loads(line) for line in lines]


def children(pid):
    try:
        with open("/proc/{0}/task/{0}/children".format(pid)) as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def strike(victim, main, database, draw):
    """Kills; says whom it hit."""
    targets = {"main": [main], "worker": children(main), "drain": drains(database)}
    if victim == "all":
        hit = targets["main"] + targets["worker"] + targets["drain"]
    elif victim == "worker":
        hit = [draw.choice(targets["worker"])] if targets["worker"] else []
    else:
        hit = targets[victim]
    kill(hit)
    return hit


def is_gone(pid):
    """Dead, whether or not its parent has taken notice."""
    try:
        with open("/proc/{}/stat".format(pid)) as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def end_group(leader):
    """A worker that was started in its parent's last moment never learns of its death."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def check_database(name, database, truth, cut):
    """Every delivered batch is stored but the last; every batch names its load and worker."""
    answer = report(database)
    check(answer.status in (0, 3), name, "dlprof-report ended with", answer.status, answer.err)
    if not check(os.path.exists(database), name, "no database"):
        return 0
    found = {(r["epoch"], r["batch"]): r for r in rows(
        database, "SELECT epoch, batch, worker_id, load_ns FROM batch")}
    missing = [(t["epoch"], t["batch"]) for t in truth if (t["epoch"], t["batch"]) not in found]
    last = [(truth[-1]["epoch"], truth[-1]["batch"])] if truth and cut else []
    check(missing in ([], last), name, len(missing), "delivered batches are missing:", missing[:5])
    stored = [(t, found[t["epoch"], t["batch"]]) for t in truth
              if (t["epoch"], t["batch"]) in found]
    equal([r["worker_id"] for _, r in stored], [t["worker"] for t, _ in stored], name, "workers")
    # The result of a load reaches the consumer before or after its record: one per worker may
    # be cut off.
    blind = [t["batch"] for t, r in stored if r["load_ns"] is None]
    check(len(blind) <= (PLAN["workers"] if cut else 0), name, "batches without a load:", blind)
    return len(missing)


def leftovers(folder, database):
    """A report while a killed process is still dying rightly leaves the run to it: the next does."""
    for _ in range(20):
        left = [file for file in os.listdir(folder)
                if file.startswith("dlprof-") or "-segments" in file]
        if not left:
            break
        time.sleep(0.1)
        report(database)
    return left


def round_of(number, victim, draw):
    folder = scratch()
    log, database = os.path.join(folder, "log.json"), os.path.join(folder, "run.db")
    errors = open(os.path.join(folder, "stderr"), "w+")
    training = subprocess.Popen([PYTHON, "-W", "ignore", SLEEPER, log, json.dumps(PLAN)],
                                env=environment(DLPROF_OUT=database, TMPDIR=folder),
                                stderr=errors,
                                stdout=subprocess.DEVNULL, start_new_session=True)
    check(wait_for(lambda: os.path.exists(log) or training.poll() is not None), "did not start")
    delay = draw.uniform(0, 1.8)
    time.sleep(delay)
    name = "round {}: {} after {:.3f} s:".format(number, victim, delay)
    hit = strike(victim, training.pid, database, draw)
    try:
        status = training.wait(60)
    except subprocess.TimeoutExpired:
        check(False, name, "training hangs")
        end_group(training.pid)
        status = training.wait()
    if victim in ("main", "all"):
        end_group(training.pid)
        # Also of a worker that began just before the kill, and would be one that still records.
        wait_for(lambda: not [pid for pid, argv in processes() if log in argv], 15)
    check(wait_for(lambda: all(is_gone(pid) for pid in hit), 15), name, "outlives SIGKILL:", hit)
    errors.seek(0)
    text = errors.read()
    truth = logged(log)
    ended = bool(truth) and truth[-1].get("end") is True
    if ended:
        truth.pop()
    if victim == "drain" or not hit:
        equal(status, 0, name, "exit status", text[-2000:])
        check(ended, name, "training did not come to its end")
    elif victim == "worker" and status:
        equal(status, 1, name, "exit status", text[-2000:])
        # Told by SIGCHLD, or found by the consumer that polls: whichever comes first.
        check("killed by signal" in text or "exited unexpectedly" in text, name,
              "DataLoader's own message", text[-2000:])
    if victim != "all":
        wait_for_drain(database)
    if truth:
        lost = check_database(name, database, truth, cut=victim != "drain")
        say(name, "hit", len(hit), "status", status, "delivered", len(truth), "missing", lost)
    else:
        # Killed on the way to the first batch: there may be no run, or one without a batch.
        if os.path.exists(database):
            answer = report(database)
            check(answer.status in (0, 3) or "stored nothing" in answer.err, name,
                  "dlprof-report ended with", answer.status, answer.err)
        say(name, "hit", len(hit), "before the first batch, status", status)
    equal(leftovers(folder, database), [], name, "files left behind")
    left = [pid for pid, argv in processes() if log in argv]
    check(wait_for(lambda: not [p for p, argv in processes() if log in argv], 15), name,
          "processes left behind:", left)
    equal(drains(database), [], name, "drains left behind")


def main():
    need_torch()
    need_shim()
    seed = int(os.environ.get("TEST_KILL_SEED") or time.time())
    say("TEST_KILL_SEED={}".format(seed))
    draw = random.Random(seed)
    for number in range(int(os.environ.get("TEST_KILL_ROUNDS") or 8)):
        round_of(number, VICTIMS[number % len(VICTIMS)], draw)
    finish()


main()
