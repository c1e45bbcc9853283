# SPDX-License-Identifier: Apache-2.0
"""Runs of which the tests of the HTML report make pages: of every kind, hostile ones, ones with secrets."""
import os
import random
import sqlite3

import dlprof_test as t
import line_runs
import rundb

MS = rundb.MS
MARKUP = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1> \"quo'te\" &amp; ]]>"
ODD = b"bad \xff\xfe \xc3( utf-8 \x1b[31m \xe2\x80\xae <b>"


def lockstep(path, **keywords):
    return rundb.lockstep(path, **keywords)


def uneven(path):
    """A run with loads of varying length and a slow worker, so that workers have factors."""
    batches = rundb.simulate(900, 4, 60, 18, jitter=0.4, slow={2: 1.9})
    return rundb.build(path, [rundb.loader(batches, workers=4)])


def with_gpu(batches):
    for batch in batches:
        batch.update(gpu_busy_ns=int(batch["compute_ns"] * 0.8), h2d_ns=int(1.5 * MS),
                     gpu_idle_wait_ns=int(batch["wait_ns"] * 0.9), h2d_bytes=19000000)
    return batches


GAPS = ("data", "h2d", "sync", "host", "other")


def gap_rows(batches):
    """Returns rows of t_gpu_step that account for all of the GPU's time, for all steps but every fiftieth."""
    rows = []
    for i, batch in enumerate(batches):
        if i % 50 == 49:
            batch.update(gpu_busy_ns=None, gpu_idle_wait_ns=None)
            continue
        idle = batch["step_ns"] - batch["gpu_busy_ns"] - batch["gpu_idle_wait_ns"]
        parts = {"data": batch["gpu_idle_wait_ns"], "h2d": int(idle * 0.5),
                 "sync": int(idle * 0.1 * (i % 3)), "host": int(idle * 0.2)}
        parts["other"] = idle - parts["h2d"] - parts["sync"] - parts["host"]
        row = {"loader_id": 1, "epoch": batch["epoch"], "task": batch["task"], "kernel_count": 300,
               "graph_count": 2, "memset_ns": 1000, "d2h_ns": 500, "d2h_bytes": 4,
               "h2d_pageable_bytes": 19000000, "nccl_ns": 0, "sync_event_ns": 5000,
               "sync_stream_ns": 70000, "sync_context_ns": 0}
        row.update({"gap_{}_ns".format(gap): ns for gap, ns in parts.items()})
        rows.append(row)
    return rows


def add_total(database, kind, name, detail="", class_=0, ns=10**8, error_ns=0):
    database.execute("INSERT INTO t_total VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?,"
                     " ?, ?, ?, ?)",
                     (kind, name, detail, class_, 900, ns, 10**7, 10**8, 10**7, error_ns))


def gpu(path):
    batches = with_gpu(rundb.simulate(300, 4, 60, 10, epochs=3))
    rows = gap_rows(batches)
    rundb.build(path, [rundb.loader(batches, workers=4)],
                meta={"clock": "gpu", "gpu": "NVIDIA H200", "cuda_mode": "cupti",
                      "cuda_dropped": "1234"})
    database = sqlite3.connect(path)
    for row in rows:
        rundb.insert(database, "t_gpu_step", row)
    for i in range(12):
        add_total(database, "kernel", "kernel<{}>(float const*)".format(i), ns=10**9 - i)
    database.commit()
    database.close()
    return path


def gpu_host(path):
    """A run that only has what the host saw of a GPU."""
    rundb.build(path, [rundb.loader(rundb.simulate(300, 4, 60, 10), workers=4)],
                meta={"cuda_mode": "cudart", "cuda_reason": "CUPTI is in use"})
    database = sqlite3.connect(path)
    for task in range(300):
        rundb.insert(database, "t_gpu_step", {"loader_id": 1, "epoch": 0, "task": task,
                                              "kernel_count": 30, "sync_stream_ns": 5000})
    database.commit()
    database.close()
    return path


def gpu_import(path):
    """An imported log that has when the GPU was idle, but not why."""
    rows = ["{},{},10,{},{}".format(i, 9 if i % 4 == 0 else 0.1, 3 if i % 4 == 0 else 0, 8)
            for i in range(1000)]
    return import_rows(path, "batch,wait_ms,compute_ms,gpu_idle_ms,gpu_busy_ms", rows, "workers=4")


def one(path):
    return rundb.build(path, [rundb.loader(rundb.simulate(1, 4, 20, 10), workers=4)])


def alone(path):
    return rundb.build(path, [rundb.loader(rundb.simulate(300, 0, 20, 10), workers=0)])


def many_workers(path):
    return rundb.build(path, [rundb.loader(rundb.simulate(3000, 64, 900, 10, jitter=0.5),
                                           workers=64)])


def blind(path):
    """A run without known workers or loads."""
    batches = rundb.simulate(300, 4, 60, 10, known=False)
    for batch in batches:
        for key in ("worker_id", "load_begin_ns", "load_ns", "collate_ns", "cpu_ns", "read_ns"):
            batch[key] = None
    return rundb.build(path, [rundb.loader(batches)])


def import_rows(path, heading, rows, *meta):
    table = path + ".csv"
    with open(table, "w", encoding="ascii") as file:
        file.write(heading + "\n")
        file.writelines(row + "\n" for row in rows)
    arguments = [argument for one_ in meta for argument in ("--meta", one_)]
    result = t.report("import", table, "-o", path, *arguments)
    t.equal((result.status, result.err), (0, ""), "import")
    os.unlink(table)
    return path


def steps(path):
    """An imported log of step times only."""
    return import_rows(path, "batch,ms", ["{},{}".format(i, 900 if i % 10 == 3 else 100 + i % 7)
                                          for i in range(400)])


def long_run(path, count):
    """A run with a stall in every eighth batch, and one stall longer than all others."""
    rows = []
    for i in range(count):
        wait = 9000 if i == 77777 else 270 + i % 11 if i % 8 == 3 else 0.5
        rows.append("{},{},{},{},{},3,{},40".format(i, wait, 10 + i % 7 / 10, 100 + i * 37 % 60, i % 8,
                                                    int(i % 8 != 3)))
    return import_rows(path, "batch,wait_ms,compute_ms,load_ms,worker_id,qdepth,head_ready,"
                       "load_cpu_ms", rows, "workers=8", "prefetch_factor=2", "in_order=true")


RUNS = {
    "lockstep": (lockstep, "wait pattern life lanes predict coverage"),
    "healthy": (rundb.healthy, "wait pattern life lanes predict coverage"),
    "uneven": (uneven, "wait pattern life lanes predict coverage"),
    "gpu": (gpu, "wait gpu pattern life lanes predict coverage"),
    "gpu_host": (gpu_host, "wait gpu pattern life lanes predict coverage"),
    "gpu_import": (gpu_import, "wait gpu pattern coverage"),
    "one": (one, "wait pattern life lanes coverage"),
    "nothing": (rundb.build, "coverage"),
    "alone": (alone, "wait pattern life lanes predict coverage"),
    "many_workers": (many_workers, "wait pattern life lanes predict coverage"),
    "blind": (blind, "wait pattern coverage"),
    "steps": (steps, "wait pattern coverage"),
    "lines": (line_runs.capacity, "wait pattern life lanes predict code coverage"),
}


def add_inside(path, text):
    """Adds steps, decoders, samples, files, folders and slow calls to a run, with names from text(what)."""
    database = sqlite3.connect(path)
    chance = random.Random(3)

    def total(kind, name, detail="", class_=0):
        add_total(database, kind, name, detail, class_, chance.randrange(10**9))
    total("step", "RandomCrop", "torchvision.transforms")
    total("step", text("step"), "dataset")
    total("decode", "libjpeg", "JPEG", 512)
    total("decode", "library", text("format"), 1024)
    total("kernel", text("kernel"))
    total("kernel", text("/data/kernel"))
    for i in range(3):
        total("file", text("/data/file{}".format(i)))
        total("folder", text("/data/folder{}".format(i)))
        total("sample", text("/data/sample{}".format(i)), text("dataset"), i)
        database.execute("INSERT INTO t_slow VALUES (?, 42, 42, 'read', CAST(? AS TEXT), ?,"
                         " CAST(? AS TEXT))",
                         (i, text("read /data/call{}".format(i)), 10**8,
                          text("frame /usr/lib/a.so\nsecond")))
    database.commit()
    database.close()
    return path


def hostile(path):
    columns = dict.fromkeys(("dlprof_version", "command", "host", "kernel", "frameworks", "run_id",
                             "patch_missing", "decoders_hidden", "overhead"), MARKUP)
    rundb.build(path, [rundb.loader(rundb.simulate(98, 7, 200, 10), workers=7, kind=MARKUP)],
                meta=columns, notes=[MARKUP, "</main></body>" + MARKUP])
    add_inside(path, lambda what: what + MARKUP)
    database = sqlite3.connect(path)
    rundb.insert_lines(database, [("worker", 1, "load", [("/x/" + MARKUP, "f" + MARKUP, 1),
                                                         ("/y/</script>" + MARKUP, "g\u202e\x85", 2)], 900)])
    rundb.insert(database, "t_stage", {"stage_id": 1, "pid": 42, "number": 1, "root": 1, "kind": "other",
                                       "name": MARKUP})
    rundb.insert(database, "t_stage_sum", {
        "stage_id": 1, "begin_ns": rundb.START_NS, "window_ns": 10**9, "loader_id": 1, "epoch": 0,
        "elements": 1, "busy_ns": 10**9, "own_ns": 10**9, "read_ns": 0, "ready": 0})
    database.execute("UPDATE t_frame SET function = CAST(? AS TEXT) WHERE line = 2", (ODD,))
    database.execute("UPDATE t_meta SET value = CAST(? AS TEXT) WHERE key = 'command'",
                     (MARKUP.encode() + ODD,))
    database.execute("UPDATE t_total SET name = CAST(? AS TEXT) WHERE kind = 'file' AND"
                     " name LIKE '%file1%'", (ODD,))
    database.commit()
    database.close()
    return path


def secret(path):
    """A run with SECRET in every path, in the command, in the host's name, and in texts that quote them."""
    rundb.build(path, [rundb.loader(rundb.simulate(98, 7, 200, 10), workers=7)],
                meta={"command": "python3 SECRET.py --data '/mnt/my SECRET'", "host": "SECREThost",
                      "run_id": "SECREThost-42-17f",
                      "decoders_hidden": "libjpeg in /usr/SECRET/lib x.so"},
                notes=["cannot open /mnt/my SECRET file"])
    return add_inside(path, lambda what: "/x/SECRET dir/" + what + " SECRET" if "/" in what
                      else "Mine")
