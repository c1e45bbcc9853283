# SPDX-License-Identifier: Apache-2.0
"""Makes databases of runs that did not happen, from the project's own schema.

A run is a list of loaders, and a loader a list of batches, as a drain would have stored them. The
times come from a small model of a DataLoader (in order, W workers, prefetch p), so that they add
up as those of a real run do.
"""
import os
import random
import sqlite3

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCHEMA = os.path.join(ROOT, "analyzer", "store", "database", "schema.sql")
APPLICATION_ID = 0x646C7072
SCHEMA_VERSION = 1
MS = 1000000
START_NS = 5000 * 1000 * MS

META = {
    "dlprof_version": "0.1.0", "schema": "1", "run_id": "box-42-17f", "rank": "0",
    "command": "python3 train.py --epochs 3", "host": "box", "kernel": "6.1.0", "cpus": "8",
    "clock": "host", "frameworks": "torch", "patch_missing": "",
    "start_unix_ns": "1766000000000000000", "start_ns": str(START_NS),
}


def simulate(count, workers, load_ms, compute_ms, prefetch=2, epochs=1, delivery_ms=0.3, seed=1,
             jitter=0.02, known=True, slow=()):
    """Simulates a loader; returns its batches as dictionaries of t_batch's columns. slow: {worker: factor}."""
    chance = random.Random(seed)
    now = float(START_NS)
    batches = []
    for epoch in range(epochs):
        free = [now + 20 * MS] * max(workers, 1)
        begun = []
        delivered = []
        for i in range(count):
            request = now
            load = (load_ms(i) if callable(load_ms) else load_ms) * MS * (1 + chance.uniform(-jitter, jitter))
            if workers:
                load *= dict(slow).get(i % workers, 1)
                window = i - workers * prefetch
                asked = delivered[window] if window >= 0 else free[i % workers]
                begin = max(free[i % workers], asked)
                free[i % workers] = begin + load
            else:
                begin = request
            end = begin + load
            got = max(request, end) + (delivery_ms * MS if workers else 0)
            compute = compute_ms(i) if callable(compute_ms) else compute_ms
            compute *= MS * (1 + chance.uniform(-jitter, jitter))
            now = got + compute
            delivered.append(got)
            begun.append(begin)
            row = {
                "epoch": epoch, "task": i, "batch": i, "begin_ns": request,
                "wait_ns": got - request, "receive_ns": 0.1 * MS, "step_ns": now - request,
                "compute_ns": now - request - int(got - request),
                "worker_id": i % workers if workers else None, "pid": 100 + i % max(workers, 1),
                "load_begin_ns": begin, "load_ns": load, "collate_ns": load * 0.05,
                "cpu_ns": load * 0.7, "samples": 32, "open_count": 32, "open_ns": load * 0.01,
                "read_count": 64, "read_bytes": 4000000, "read_ns": load * 0.2,
                "storage_bytes": 1000000,
            }
            if workers and known:
                ready = end <= request
                row.update(ready_ns=request - end if ready else 0, head_ready=int(ready), qdepth=1,
                           hol_ns=0, transfer_ns=0.2 * MS)
            batches.append(row)
    return [{k: int(v) if isinstance(v, float) else v for k, v in row.items()} for row in batches]


def loader(batches, **columns):
    row = {"pid": 42, "kind": "torch.DataLoader", "workers": None, "prefetch_factor": 2,
           "in_order": 1, "persistent": 0, "batch_size": 32}
    row.update(columns)
    return row, batches


def insert(database, table, row):
    names = ", ".join(row)
    marks = ", ".join("?" * len(row))
    database.execute("INSERT INTO {} ({}) VALUES ({})".format(table, names, marks),
                     list(row.values()))


def insert_lines(database, stacks):
    """Samples of lines: (role, loader_id, phase, [(file, function, line) innermost first], count)
    each, 50 ms a sample."""
    ids = {}
    for role, number, phase, frames, count in stacks:
        for frame in frames:
            if frame not in ids:
                ids[frame] = len(ids) + 1
                insert(database, "t_frame", dict(zip(("file", "function", "line"), frame),
                                                 id=ids[frame]))
        insert(database, "t_stack", {"role": role, "loader_id": number, "phase": phase,
                                     "frames": " ".join(str(ids[frame]) for frame in frames),
                                     "count": count, "ns": 50 * MS * count})


def build(path, loaders=(), meta=None, notes=(), losses=(), version=SCHEMA_VERSION,
          application=APPLICATION_ID, theta=None, lines=()):
    if os.path.exists(path):
        os.unlink(path)
    database = sqlite3.connect(path)
    with open(SCHEMA, encoding="ascii") as schema:
        database.executescript(schema.read())
    database.execute("PRAGMA application_id = {}".format(application))
    database.execute("PRAGMA user_version = {}".format(version))
    end_ns = START_NS
    for number, (row, batches) in enumerate(loaders, 1):
        insert(database, "t_loader", dict(row, loader_id=number, number=number, theta_ns=theta))
        for epoch in sorted({batch["epoch"] for batch in batches}):
            insert(database, "t_epoch", {"loader_id": number, "epoch": epoch,
                                         "begin_ns": START_NS, "setup_ns": 30 * MS})
        for batch in batches:
            insert(database, "t_batch", dict(batch, loader_id=number))
            if isinstance(batch.get("begin_ns"), int) and isinstance(batch.get("step_ns"), int):
                end_ns = max(end_ns, batch["begin_ns"] + batch["step_ns"])
    for key, value in dict(META, end_ns=str(end_ns), **(meta or {})).items():
        if value is not None:
            insert(database, "t_meta", {"key": key, "value": value})
    insert(database, "t_process", {"pid": 42, "start_ticks": 1, "role": "main"})
    insert_lines(database, lines)
    for text in notes:
        insert(database, "t_note", {"level": "warning", "text": text})
    for pid, count in enumerate(losses, 42):
        insert(database, "t_loss", {"pid": pid, "what": "events", "count": count})
    database.commit()
    database.close()
    return path


def lockstep(path, **keywords):
    """Seven workers, 200 ms a load, 10 ms a step: highly input-bound, with a stall every seven batches."""
    return build(path, [loader(simulate(98, 7, 200, 10), workers=7)], **keywords)


def healthy(path, **keywords):
    return build(path, [loader(simulate(400, 4, 20, 10), workers=4)], **keywords)


def rank(path, number, late, together=True, steps=200, start=0, load_ms=None,
         kind="torch.DataLoader", inner=(), in_turn=False, **meta):
    """Makes a rank of a job. late[i]: how long rank i waits in every third step, ms; in_turn: not all in the same."""
    now, rows = START_NS, []
    for epoch in range(2):
        for step in range(steps):
            waits = [ms if step % 3 == (i % 3 if in_turn else 0) else 1 for i, ms in enumerate(late)]
            wait = waits[number] * MS
            compute = 100 * MS + (max(waits) * MS - wait if together else 0)
            rows.append({"epoch": epoch, "task": step, "batch": step, "begin_ns": now,
                         "wait_ns": wait, "compute_ns": compute, "step_ns": wait + compute,
                         "head_ready": int(waits[number] == 1), "worker_id": step % 2,
                         "load_ns": load_ms and load_ms * MS})
            now += wait + compute
    meta = dict({"rank": str(number), "host": "node{}".format(number // 2),
                 "start_unix_ns": str(1766000000000000000 + start)}, **meta)
    return build(path, [loader(rows, workers=2, kind=kind)] + list(inner), meta=meta)


def job(folder, late, **keywords):
    """Makes a job with these ranks in a folder; returns that."""
    os.makedirs(folder, exist_ok=True)
    for number in range(len(late)):
        rank(os.path.join(folder, "r{}.db".format(number)), number, late, **keywords)
    return folder


def groups(folder, lates, **keywords):
    """Makes a job whose ranks wait for each other only within groups; returns its folder."""
    first = 0
    for late in lates:
        for number in range(len(late)):
            name = str(first + number)
            rank(os.path.join(folder, "r{}.db".format(name)), number, late, rank=name,
                 host="node{}".format((first + number) // 2), **keywords)
        first += len(late)
    return folder
