# SPDX-License-Identifier: Apache-2.0
"""dlprof.h: the examples build with one line, run as they do without us, and are judged rightly.

What the calls mean beyond that (steps alone, loads in a wait, in forks, in threads that begin
together, calls in the wrong order) is asked of a Python that calls them by ctypes.
"""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test  # noqa: E402
from dlprof_test import (PYTHON, ROOT, check, environment, equal, finish, least,  # noqa
                         need_shim, report, rows, run, say, scratch, spread, wait_for_drain)

BUILDS = {"loop.c": ["cc", "-std=c99"], "loop.cpp": ["c++", "-std=c++11"]}
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(ROOT, "include")]
# workers, load ms, step ms, batches an epoch, verdict, and the shares of waiting that make it sure
RUNS = [(2, 24, 4, 30, "highly_input_bound", (0.3, 1)), (4, 8, 12, 30, "not_input_bound", (0, 0.02))]
WAIT_TOLERANCE_NS = 200_000
ATTEMPTS = 4

PRELUDE = """
import ctypes, os, sys, threading, time
shim = ctypes.CDLL(None)
for name in "batch_end", "load_begin", "load_end":
    getattr(shim, "dlprof_" + name).argtypes = [ctypes.c_int64]
NEXT, END = -1, -2
now = lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC)
"""


def build(example, folder):
    program = os.path.join(folder, example.replace(".", "-"))
    source = os.path.join(ROOT, "examples", example)
    done = run(BUILDS[example] + STRICT + [source, "-o", program, "-pthread"])
    equal(done.status, 0, example, "builds", done.err)
    return program


def batches_of(database):
    return rows(database, "SELECT b.*, l.load_ns AS l_load_ns, l.pid, t.task FROM batch b "
                "LEFT JOIN load l USING (loader_id, epoch, batch) "
                "JOIN t_batch t USING (loader_id, epoch, batch) ORDER BY b.begin_ns")


def waiting(truth, skipped):
    """The share of the time, by the program's own stamps, without the begin of each epoch."""
    pairs = [(own, after) for own, after in zip(truth, truth[1:])
             if own[0] == after[0] and own[1] >= skipped]
    return (sum(own[3] - own[2] for own, _ in pairs) /
            sum(after[2] - own[2] for own, after in pairs))


def compare(program, arguments, name, best):
    """One run under the preload. What is wrong that another run may cure, and whether that is only
    that others had the machine, so that the program itself waited too much or too little."""
    workers, load_ms, step_ms, count, verdict, shares = arguments
    folder = scratch()
    stamps, database = os.path.join(folder, "stamps"), os.path.join(folder, "run.db")
    done = run([program] + [str(a) for a in arguments[:4]] + [stamps],
               env=environment(DLPROF_OUT=database))
    equal((done.status, done.out), (0, "trained {}\n".format(2 * count)), name, done.err)
    wait_for_drain(database)
    with open(stamps) as file:
        truth = [tuple(map(int, line.split())) for line in file]
    found = batches_of(database)
    ordinals = [(epoch, i) for epoch in (0, 1) for i in range(count)]
    equal([(r["epoch"], r["task"]) for r in found], [t[:2] for t in truth], name, "batches")
    equal([(r["epoch"], r["batch"]) for r in found], ordinals, name, "ordinals")
    waits = [t[3] - t[2] - r["wait_ns"] for r, t in zip(found, truth)]
    check(all(t[2] <= r["begin_ns"] and r["begin_ns"] + r["wait_ns"] <= t[3]
              for r, t in zip(found, truth)), name, "waits within the program's")
    say(name, "wait error, ms, median / 99 % / max:", spread(waits, 1e6))
    for row in found:
        check(row["l_load_ns"] is not None and row["l_load_ns"] >= load_ms * 1_000_000, name,
              "load", row["l_load_ns"])
        check(row["worker_id"] in range(workers), name, "worker", row["worker_id"])
        check(row["head_ready"] is not None, name, "readiness is not known")
        for column in ("receive_ns", "hol_ns"):
            equal(row[column], None, name, column)
    loader, = rows(database, "SELECT kind, workers, in_order, persistent, batch_size FROM loader")
    equal(list(loader.values()), ["marks", workers, None, None, None], name, "loader")
    said = rows(database, "SELECT * FROM mark ORDER BY ts_ns")
    equal([m["text"] for m in said], ["epoch 0", "epoch 1"], name, "marks")
    check(said[1]["ts_ns"] - said[0]["ts_ns"] > count * load_ms * 1_000_000 / workers, name,
          "times of the marks", said)
    judged = report("--json", database)
    wrong = []
    share = waiting(truth, workers)
    busy = not shares[0] <= share <= shares[1]
    if not busy:
        equal(json.loads(judged.out)["verdict"], verdict, name, "verdict", share)
    if least(best, enumerate(waits)) > WAIT_TOLERANCE_NS:
        wrong.append("a wait differs by {} ns".format(max(best.values())))
    return wrong, ["the program itself waited {:.0%}".format(share)] * busy


def check_example(example, folder):
    if not shutil.which(BUILDS[example][0]):
        say("no", BUILDS[example][0], "for", example)
        return
    program = build(example, folder)
    plain = run([program, "2", "1", "1", "5"], env=environment(preload=False))
    equal((plain.status, plain.out, plain.err), (0, "trained 10\n", ""), example, "without us")
    for arguments in RUNS:
        name = "{} {}:".format(example, arguments)
        best = {}
        for _ in range(ATTEMPTS):
            wrong, busy = compare(program, arguments, name, best)
            if not wrong + busy or dlprof_test.failure_count():
                break
            say(name, "attempt failed:", wrong + busy)
        check(not wrong, name, wrong)


def python(name, program):
    """Rows of the batches, the output and the database of a Python that makes marks."""
    database = os.path.join(scratch(), "run.db")
    done = run([PYTHON, "-c", PRELUDE + program], env=environment(DLPROF_OUT=database))
    equal(done.status, 0, name, done.err)
    wait_for_drain(database)
    equal(rows(database, "SELECT * FROM loss"), [], name, "losses")
    return batches_of(database), done.out, database


def check_steps():
    found, out, database = python("steps", """
for i in range(31):
    before = now()
    shim.dlprof_step()
    print(before, now())
    time.sleep(0.002 + 0.004 * (i % 3))
""")
    stamps = [tuple(map(int, line.split())) for line in out.splitlines()]
    equal([r["batch"] for r in found], list(range(30)), "steps")
    for row, begin, end in zip(found, stamps, stamps[1:]):
        check(begin[0] <= row["begin_ns"] <= begin[1] and
              end[0] <= row["begin_ns"] + row["step_ns"] <= end[1], "step", dict(row), begin, end)
        equal((row["wait_ns"], row["compute_ns"]), (None, None), "not observed in a step")
    judged = json.loads(report("--json", database).out)
    equal(judged["verdict"], "incomplete", "verdict of steps alone")


def check_single():
    """Loads within the wait: no workers."""
    found, _, database = python("single", """
for i in range(40):
    shim.dlprof_batch_begin()
    shim.dlprof_load_begin(NEXT if i % 2 else i)
    time.sleep(0.004)
    shim.dlprof_load_end(i)
    shim.dlprof_batch_end(NEXT)
    shim.dlprof_step()
    time.sleep(0.004)
""")
    equal([r["task"] for r in found], list(range(40)), "numbers")
    check(all(0 < r["l_load_ns"] <= r["wait_ns"] for r in found), "a load lies in its wait")
    equal([r["worker_id"] for r in found], [None] * 40, "worker")
    equal(rows(database, "SELECT workers FROM loader"), [{"workers": 0}], "workers")
    judged = json.loads(report("--json", database).out)
    equal((judged["verdict"], judged["cause"]), ("highly_input_bound", "single_process"), "verdict")


def check_short():
    """The CPU time of a short load: all of it if the load computes, hardly any if it sleeps."""
    _, out, database = python("short", """
for i in range(200):
    shim.dlprof_batch_begin()
    shim.dlprof_load_begin(i)
    begin = time.thread_time_ns()
    if i % 2:
        time.sleep(0.0004)
    while i % 2 == 0 and time.thread_time_ns() < begin + 400_000: pass
    print(time.thread_time_ns() - begin)
    shim.dlprof_load_end(i)
    shim.dlprof_batch_end(i)
""")
    found = [row["cpu_ns"] for row in rows(database, "SELECT cpu_ns FROM load ORDER BY batch")]
    errors = [cpu_ns - int(own) for cpu_ns, own in zip(found, out.split())]
    equal(len(errors), 200, "short loads")
    for kind, some in (("computes", errors[::2]), ("sleeps", errors[1::2])):
        say("CPU time of a load that", kind, "us:", spread(some, 1e3))
        check(sorted(map(abs, some))[90] < 150_000, "CPU time of a load that", kind, some)


def check_together():
    """No first load is lost where many threads begin at once, nor one of a forked process."""
    found, out, _ = python("together", """
barrier = threading.Barrier(8)
def load(i):
    barrier.wait()
    shim.dlprof_load_begin(i)
    time.sleep(0.05)
    shim.dlprof_load_end(i)
threads = [threading.Thread(target=load, args=(i,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
for i in range(10):
    shim.dlprof_batch_begin()
    if i == 8:
        child = os.fork()
        if not child:
            for k in 8, 9:
                shim.dlprof_load_begin(k)
                time.sleep(0.01)
                shim.dlprof_load_end(k)
            os._exit(0)
        os.waitpid(child, 0)
        print(child, os.getpid())
    shim.dlprof_batch_end(i)
""")
    child, parent = map(int, out.split())
    equal([r["pid"] for r in found], [parent] * 8 + [child] * 2, "who loaded")
    equal(sorted(r["worker_id"] for r in found[:8]), list(range(8)), "workers")


def check_waves():
    """The same of threads that begin together later: each wave wants segments of its own."""
    _, _, database = python("waves", """
def load(i, barrier):
    barrier.wait()
    shim.dlprof_load_begin(i)
    time.sleep(0.02)
    shim.dlprof_load_end(i)
def wave(tasks):
    barrier = threading.Barrier(len(tasks))
    threads = [threading.Thread(target=load, args=(i, barrier)) for i in tasks]
    [t.start() for t in threads]
    [t.join() for t in threads]
wave(range(8))
time.sleep(1.2)
wave(range(8, 28))
wave(range(28, 48))
""")
    found = [row["task"] for row in rows(database, "SELECT task FROM t_batch ORDER BY task")]
    equal(found, list(range(48)), "loads of waves of threads")


def check_disorder():
    """Calls in the wrong order break nothing, and what is right among them is recorded."""
    found, out, database = python("disorder", """
shim.dlprof_batch_end(NEXT); shim.dlprof_load_end(3); shim.dlprof_batch_end(END)
shim.dlprof_mark(None); shim.dlprof_mark(b""); shim.dlprof_mark("é".encode() * 80)
shim.dlprof_batch_begin(); shim.dlprof_batch_begin(); shim.dlprof_batch_end(7)
shim.dlprof_batch_end(8); shim.dlprof_load_begin(1 << 40); shim.dlprof_load_end(NEXT)
shim.dlprof_load_begin(5); shim.dlprof_load_begin(8); shim.dlprof_load_end(NEXT)
shim.dlprof_load_begin(9); shim.dlprof_load_end(END)
other = threading.Thread(target=shim.dlprof_batch_end, args=(1,))
shim.dlprof_batch_begin(); other.start(); other.join(); shim.dlprof_batch_end(NEXT)
shim.dlprof_batch_begin(); shim.dlprof_batch_end(END); shim.dlprof_batch_end(END)
shim.dlprof_batch_begin(); shim.dlprof_batch_end(0)
child = os.fork()
if not child:                                     # trains on its own
    shim.dlprof_batch_begin(); shim.dlprof_batch_end(0)
    os._exit(0)
os.waitpid(child, 0)
shim.dlprof_batch_begin(); shim.dlprof_batch_end(0)
print("done")
""")
    equal(out, "done\n", "output")
    mine = [r for r in found if r["loader_id"] == found[0]["loader_id"]]
    equal([(r["epoch"], r["task"]) for r in mine], [(0, 7), (0, 8), (1, 0)], "batches")
    equal([r["l_load_ns"] is not None for r in mine], [False, True, False], "loads")
    equal([(r["epoch"], r["task"]) for r in found if r not in mine], [(0, 0)], "of the child")
    said = [r["text"] for r in rows(database, "SELECT text FROM mark ORDER BY ts_ns")]
    equal(said, ["", "é" * 43], "marks")
    notes = rows(database, "SELECT text FROM note WHERE text LIKE '%batch 0 twice%'")
    equal(len(notes), 1, "note of a number that came twice")


def main():
    need_shim()
    folder = scratch()
    for example in BUILDS:
        check_example(example, folder)
    check_steps()
    check_single()
    check_short()
    check_together()
    check_waves()
    check_disorder()
    finish()


main()
