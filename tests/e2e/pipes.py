# SPDX-License-Identifier: Apache-2.0
"""A DataLoader whose patch points have other names, or a Python without audit hooks: libc alone.

usage: pipes.py CASE... (see CASES). The loader is torch's own with its classes renamed; the script
keeps its own clock. Every batch must be there, once, in order, with its wait; the first load of each
worker may be missing, for there was no run to tell of it yet.
"""
import glob
import json
import os
import shutil
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test  # noqa: E402
from dlprof_test import (PYTHON, check, check_nested, environment, equal, finish,  # noqa
                         least, need_shim, report, rows, run, say, scratch, skip, spread,
                         wait_for_drain)
import stub  # noqa: E402

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sleeper.py")
WAIT_MEDIAN_NS, WAIT_WORST_NS = 1_000_000, 8_000_000
ATTEMPTS = 4

BASE = {"load_s": 0.06, "step_s": 0.01, "workers": 3, "batches": 30}
CASES = {
    "seven": dict(BASE, load_s=0.1, workers=7, batches=49, period=7),
    "epochs": dict(BASE, load_s=0.02, epochs=3),
    # Loads are over before the thread that sends them has started.
    "hasty": dict(BASE, load_s=0, epochs=3, prefetch=12),
    # Results of the others come before the first worker has its first task.
    "late": dict(BASE, load_s=0.02, epochs=3, late_s=0.2),
    "persistent": dict(BASE, load_s=0.02, epochs=3, persistent=True),
    "spawn": dict(BASE, start="spawn"),
    "forkserver": dict(BASE, start="forkserver"),
    "iterable": dict(BASE, load_s=0.03, batches=31, epochs=2, iterable=True),
    "two_loaders": dict(BASE, workers=2, batches=12, labels=["left", "right"], validation=3,
                        epochs=2),
    "head_of_line": dict(BASE, load_s=0.05, step_s=0.015, workers=4, batches=40, slow_every=20,
                         slow_factor=8, prefetch=4),
    # Messages of several reads, whose unpickling takes a while and is no part of the wait.
    "big": dict(BASE, batch_size=2000, load_s=0, batches=24, median_ns=30_000_000,
                worst_ns=200_000_000),
    # A container whose kernel lets nobody read memory by a system call.
    "sealed": dict(BASE, load_s=0.02, epochs=2, sealed=True),
    "old": dict(BASE, python="3.7"),
}

SEAL = ["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=process_vm_readv",
        "-e", "inject=process_vm_readv:error=EPERM"]

# What is no loader must leave no trace, however much it sends through pipes.
BYSTANDER = """
import concurrent.futures, ctypes, multiprocessing as mp, os
def double(x):
    return [2 * x]
def serve(tasks, results):
    for number, item in iter(tasks.get, None):
        results.put((number, item))
if __name__ == "__main__":
    with mp.Pool(2) as pool:
        print(pool.map(double, range(5)), pool.apply(double, (7,)))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(list(pool.map(double, range(5))))
    tasks, results = mp.Queue(), mp.Queue()
    worker = mp.Process(target=serve, args=(tasks, results))
    worker.start()
    for i in range(5):
        tasks.put((i, "item"))
    print([results.get(timeout=5) for _ in range(5)])
    tasks.put(None)
    worker.join()
    libc = ctypes.CDLL(None, use_errno=True)
    bad = libc.write(os.pipe()[1], ctypes.c_void_p(8), ctypes.c_size_t(100))
    print("bad address", bad, os.strerror(ctypes.get_errno()))
"""


def find_python(version):
    root = os.environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    found = glob.glob(os.path.join(root, "versions", version + ".*", "bin", "python3"))
    return found[0] if found else None


def record(name, plan, python):
    folder = scratch()
    log, database = os.path.join(folder, "log.json"), os.path.join(folder, "run.db")
    made = stub.make(folder, hidden="python" not in plan)
    if not made:
        skip("no installed torch to take the DataLoader from")
    done = run((SEAL if "sealed" in plan else []) +
               [python, "-W", "ignore", SLEEPER, log, json.dumps(plan)],
               env=environment(DLPROF_OUT=database, TEST_STUB=made))
    equal((done.status, done.out), (0, "trained {}\n".format(plan["batches"])), name, done.err)
    with open(log) as file:
        truth = [json.loads(line) for line in file]
    check(truth and truth.pop().get("end"), name, "the script came to its end")
    wait_for_drain(database)
    check(os.path.exists(database), name, "no database")
    return truth, database


def gaps(waits, workers):
    stalls = [i for i, wait in enumerate(waits) if i >= workers and wait > 5_000_000]
    return [b - a for a, b in zip(stalls, stalls[1:])]


def compare(name, plan, truth, found, best):
    """What is wrong that another run may cure; `best`: the least error of each wait so far."""
    waits = [abs(r["wait_ns"] - (t["end"] - t["begin"])) for t, r in zip(truth, found)]
    loads = [abs(r["load_ns"] - (t["load_end"] - t["load_begin"]))
             for t, r in zip(truth, found) if r["load_ns"] is not None]
    say(name, "error, ms, median / 99 % / max: wait", spread(waits, 1e6), "load",
        spread(loads, 1e6), "missing loads:", len(truth) - len(loads))
    wrong = []
    worst = least(best, enumerate(waits))
    if statistics.median(best.values()) > plan.get("median_ns", WAIT_MEDIAN_NS) or \
            worst > plan.get("worst_ns", WAIT_WORST_NS):
        wrong.append("wait error")
    check_nested(name, truth, found)
    # By the end of the first wait there was a run, and workers find it at their next task.
    begun = min(t["end"] for t in truth)
    lost = [t for t, r in zip(truth, found) if r["load_ns"] is None and t["load_begin"] > begun]
    equal(lost, [], name, "loads are missing")
    for t, r in zip(truth, found):
        if r["load_ns"] is not None:
            equal((r["worker_id"], r["pid"]), (t["worker"], t["pid"]), name, "worker", t["batch"])
    if "period" in plan:
        # Where the script itself lost its rhythm, so have we.
        own = gaps([t["end"] - t["begin"] for t in truth], plan["workers"])
        found_gaps = gaps([r["wait_ns"] for r in found], plan["workers"])
        if not own or found_gaps != own:
            wrong.append("gaps between stalls {}, the script's {}".format(found_gaps, own))
    return wrong


def run_case(name, plan):
    python = find_python(plan["python"]) if "python" in plan else PYTHON
    if "sealed" in plan and not shutil.which("strace"):
        say("no strace")
        return
    if not python:
        say("no CPython", plan["python"])
        return
    best = {}
    for _ in range(ATTEMPTS):
        truth, database = record(name, plan, python)
        labels = []
        for own in truth:
            if own["label"] not in labels:
                labels.append(own["label"])
        truth.sort(key=lambda own: (labels.index(own["label"]), own["epoch"], own["batch"]))
        found = rows(database, "SELECT b.*, l.pid, l.begin_ns AS load_begin FROM batch b LEFT JOIN load l "
                     "USING (loader_id, epoch, batch) ORDER BY loader_id, epoch, batch")
        ours = [(r["loader_id"], r["epoch"], r["batch"]) for r in found]
        theirs = [(labels.index(t["label"]) + 1, t["epoch"], t["batch"]) for t in truth]
        equal(ours, theirs, name, "loader, epoch and batch")
        loaders = rows(database, "SELECT kind, workers FROM loader ORDER BY loader_id")
        equal([loader["kind"] for loader in loaders], ["DataLoader (pipes)"] * len(labels), name)
        equal([loader["workers"] for loader in loaders],
              [1 if label == "validation" else plan["workers"] for label in labels], name)
        said = rows(database, "SELECT text FROM note WHERE text LIKE 'batches are identified by%'")
        equal(len(said), 1, name, "note")
        if dlprof_test.failure_count():
            return
        wrong = compare(name, plan, truth, found, best)
        if not wrong or dlprof_test.failure_count():
            return
        say(name, "attempt failed:", wrong)
    check(False, name, wrong)


def check_bystander():
    folder = scratch()
    program = os.path.join(folder, "bystander.py")
    with open(program, "w") as file:
        file.write(BYSTANDER)
    plain = run([PYTHON, program], env=environment(False, TMPDIR=folder), cwd=folder)
    done = run([PYTHON, program], env=environment(TMPDIR=folder), cwd=folder)
    equal((done.status, done.out, done.err), (0, plain.out, plain.err), "bystander")
    equal(plain.out.splitlines()[-1:], ["bad address -1 Bad address"], "bystander")
    equal([n for n in os.listdir(folder) if "dlprof" in n], [], "bystander left behind")


def main():
    need_shim()
    for name in sys.argv[1:] or CASES:
        run_case(name, CASES[name])
    check_bystander()
    finish()


main()
