# SPDX-License-Identifier: Apache-2.0
"""The report, compare, the gate and the tables of many jobs name the same cause of a run.

The waits alone do not tell the cause of any run here: each needs something else that its database
holds. The output of fold names no cause, but a partial that fold writes carries one.
"""
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlprof_test as t  # noqa: E402
import line_runs  # noqa: E402
import rundb  # noqa: E402

MS = rundb.MS


def build(path, batches, workers, totals=(), cpus=8):
    """Makes a run of one loader; `totals` are rows of t_total: (kind, name, detail, count, ns)."""
    rundb.build(path, [rundb.loader(batches, workers=workers)],
                meta={"schema": "10", "cpus": str(cpus)})
    with sqlite3.connect(path) as database:
        for kind, name, detail, count, ns in totals:
            database.execute("INSERT INTO t_total VALUES (?, ?, ?, 0, ?, ?, 0, 0, ?, 0)",
                             (kind, name, detail, count, ns, ns // count))
    return path


def locked(path):
    """A run whose loads wait for a lock half of their time."""
    batches = rundb.simulate(300, 4, 200, 20)
    for batch in batches:
        batch.update(blocked_ns=batch["load_ns"] // 2, cpu_ns=batch["load_ns"] // 10)
    blocked = sum(batch["blocked_ns"] for batch in batches)
    return build(path, batches, 4, [("wait", "", "lock", len(batches), blocked)])


def crowded(path):
    """Sixteen workers compute on four cores, so each has a core for a quarter of its time. Four would
    load no more: the cores are used up, and there are not too many workers."""
    batches = rundb.simulate(400, 16, 400, 5)
    for batch in batches:
        batch.update(cpu_ns=batch["load_ns"] * 97 // 400, open_ns=0, read_ns=0)
    return build(path, batches, 16, cpus=4)


def broken(path):
    """Fifty samples of 5120 take 24 times as long as the others."""
    batches = rundb.simulate(160, 4, 200, 20, jitter=0.9)
    return build(path, batches, 4,
                 [("sample", str(i), "", 1, 150 * MS) for i in range(50)])


def served(path):
    """Four workers share a server. The last two loads of an epoch have it for themselves, and take
    half as long as four loads at once."""
    batches = rundb.simulate(42, 4, 200, 10, epochs=8)
    for batch in batches:
        batch.update(cpu_ns=batch["load_ns"] // 20, open_ns=0, read_ns=0)
        if batch["batch"] >= 40:
            batch["load_ns"] //= 2
    return build(path, batches, 4)


def used(path, cpu, **use):
    """Four workers whose loads compute for a part `cpu` of their time; `use` is a worker's row of t_use."""
    batches = rundb.simulate(200, 4, 200, 20)
    for batch in batches:
        batch.update(cpu_ns=int(batch["load_ns"] * cpu), open_ns=0, read_ns=0, collate_ns=0, blocked_ns=0)
    build(path, batches, 4)
    with sqlite3.connect(path) as database:
        for number in range(4):
            process = {"pid": 100 + number, "start_ticks": 1}
            rundb.insert(database, "t_process", dict(process, role="worker", worker_id=number, loader_id=1))
            rundb.insert(database, "t_use", dict(process, **use))
    return path


def threads(path):
    return used(path, 0.3, runnable_milli=8000)


def narrowed(path):
    return used(path, 0.25, cores_allowed=1)


def swapped(path):
    return used(path, 0.1, major_faults=100000, swapped_bytes=3 * 10**9, private_begin_bytes=10**9,
                private_end_bytes=2 * 10**9)


# A run, its cause, and what the screen says of it with the run's numbers.
RUNS = ((locked, "lock", "That takes 50 % of the loads' time."),
        (crowded, "cpu_contention", "They use 97 % of 4 cores."),
        (broken, "slow_samples", "50 of them take 150 ms each (the mean is 6.20 ms): 23 % of all loading."),
        (served, "shared_limit", "All of them together get 20 batches/s."),
        (line_runs.held, "interpreter_held", "ran Python in 94 % of the waits."),
        (threads, "too_many_threads", "8 threads of each worker want a core: 32 for 8 cores."),
        (narrowed, "narrowed_cores", "The workers may use 1 of the 8 cores."),
        (swapped, "memory", "400,000 pages were read back from disk; 12.0 GB of the run were swapped out. "
         "A worker's own memory grew from 1.00 GB to 2.00 GB."))


def lake_causes(folder, source):
    """Exports a run, or a partial of it, and reads the causes back from the table of ranks."""
    fleet = os.path.join(folder, "fleet.db")
    done = t.report("export", "--into", fleet, source)
    t.equal((done.status, done.err), (0, ""), source)
    rows = t.rows(fleet, "SELECT cause FROM rank")
    os.unlink(fleet)
    return [row["cause"] for row in rows]


def check(folder, make, cause, words):
    run = make(os.path.join(folder, make.__name__ + ".db"))
    part = run + ".part"
    t.equal(json.loads(t.report("--json", run).out)["cause"], cause, run, "the report")
    t.check(words in " ".join(t.report(run).out.split()), run, words)
    gated = json.loads(t.report("gate", "--json", run).out)
    t.equal([found["cause"] for found in gated["runs"]], [cause], run, "the gate")
    both = json.loads(t.report("compare", "--json", run, run).out)
    t.equal([both[side]["cause"] for side in "ab"], [cause] * 2, run, "compare")
    t.equal(lake_causes(folder, run), [cause], run, "the table of ranks")
    t.equal(t.report("fold", run, "-o", part).status, 0, run)
    t.equal(lake_causes(folder, part), [cause], run, "the table of ranks, by a partial")


def main():
    folder = t.scratch()
    for make, cause, words in RUNS:
        check(folder, make, cause, words)
    t.finish()


main()
