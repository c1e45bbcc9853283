# SPDX-License-Identifier: Apache-2.0
"""Stages of tf.data's pipelines and of DALI's, with their libraries as tf_stages.c and dali_ranges.c play
them: what was planted is in the view `stage`, and the program sees nothing of it."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import fakes  # noqa: E402
import programs  # noqa: E402
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, report, rows, run,  # noqa
                         scratch, wait_for_drain)

SUMS = ("SELECT name, kind, kernel, root, autotuned, parallel, capacity, threads, "
        "(SELECT name FROM t_stage p WHERE p.stage_id = s.parent) AS feeds, "
        "SUM(elements) AS elements, SUM(busy_ns) AS busy_ns, SUM(own_ns) AS own_ns, "
        "SUM(cpu_ns) AS cpu_ns, MAX(queue) AS queue, COUNT(DISTINCT loader_id) AS loaders, "
        "COUNT(*) AS windows FROM stage s GROUP BY stage")
AHEAD = 2
SLEEP_COST_US = 40  # CPU time of a sleep, at most


def record(*arguments, program="stages"):
    database, packages = os.path.join(scratch(), "run.db"), scratch()
    fakes.write(packages)
    program = [PYTHON, "-B", programs.path_of(program)] + [str(one) for one in arguments]
    plain = run(program, env=environment(False, PYTHONPATH=packages), cwd=packages)
    done = run(program, cwd=packages, env=environment(DLPROF_OUT=database, DLPROF_QUIET=1,
                                                      PYTHONPATH=packages))
    equal((done.status, done.out, done.err), (plain.status, plain.out, plain.err), arguments,
          "status and output")
    wait_for_drain(database)
    return {row["name"]: row for row in rows(database, SUMS)}, database, done.out.split()


def check_planted():
    """Each stage with what it does, and none of the training's kernels."""
    epochs, count, read_us, decode_us = 3, 20, 3000, 1500
    found, database, said = record(epochs, count, read_us, decode_us)
    # As many as were asked for, every status as it came, and no text of TensorFlow's was kept.
    equal(said[:3], [str(epochs * count), "0", "0"], "the program")
    equal(sorted(found), ["DecodeJpeg", "ParallelMapV2", "Prefetch", "ReadFile", "Root"], "stages")
    equal({name: (row["kind"], row["kernel"], row["root"], row["feeds"]) for name, row in
           found.items()},
          {"Root": ("other", 0, 1, None), "Prefetch": ("prefetch", 0, 0, "Root"),
           "ParallelMapV2": ("transform", 0, 0, "Prefetch"),
           "ReadFile": ("read", 1, 0, "ParallelMapV2"),
           "DecodeJpeg": ("decode", 1, 0, "ParallelMapV2")}, "kinds and whom they feed")
    equal((found["Root"]["threads"], found["Prefetch"]["capacity"], found["Prefetch"]["autotuned"],
           found["ParallelMapV2"]["parallel"], found["ParallelMapV2"]["autotuned"]),
          (3, 2, 0, 8, 1), "settings")
    for name, row in found.items():
        equal((row["elements"], row["loaders"]), (epochs * count, 1), name, "elements, loaders")
    # Epochs are shorter than a window of time, and each has its own elements.
    each = rows(database, "SELECT epoch, SUM(elements) AS elements FROM t_stage_sum JOIN t_stage USING (stage_id)"
                " WHERE name = 'Root' GROUP BY epoch")
    equal([(row["epoch"], row["elements"]) for row in each], [(epoch, count) for epoch in range(epochs)], "by epoch")
    calls = epochs * count
    for name, us in (("ReadFile", read_us), ("DecodeJpeg", decode_us)):
        check(found[name]["own_ns"] >= calls * us * 1000, name, "own time", found[name]["own_ns"])
    # The first call of each is too early to know that it is long.
    check(found["ReadFile"]["cpu_ns"] < 0.2 * found["ReadFile"]["own_ns"], "asleep", found["ReadFile"])
    check(found["DecodeJpeg"]["cpu_ns"] > 0.9 * calls * decode_us * 1000, "busy",
          found["DecodeJpeg"])
    kernels = found["ReadFile"]["own_ns"] + found["DecodeJpeg"]["own_ns"]
    stages = [found[name]["own_ns"] for name in ("Root", "Prefetch", "ParallelMapV2")]
    # What a call does itself is its own once.
    check(abs(kernels + sum(stages) - found["Root"]["busy_ns"]) < 1_000_000, "own times", stages,
          kernels, found["Root"]["busy_ns"])
    check(found["Root"]["busy_ns"] >= found["Prefetch"]["busy_ns"] >=
          found["ParallelMapV2"]["busy_ns"], "within each other", found)
    check(0 < found["Prefetch"]["queue"] <= AHEAD, "queue", found["Prefetch"]["queue"])
    waits = rows(database, "SELECT SUM(wait_ns) AS ns FROM batch")[0]["ns"]
    check(waits >= 0.9 * found["Root"]["busy_ns"], "waits", waits, found["Root"]["busy_ns"])


def check_many():
    """Iterators that come and go at the same addresses are the same stages, and nothing grows."""
    epochs, count = 10000, 3
    found, database, said = record(epochs, count, 0, 0)
    equal(said[:3], [str(epochs * count), "0", "0"], "the program")
    equal(sorted(found), ["DecodeJpeg", "ParallelMapV2", "Prefetch", "ReadFile", "Root"], "stages")
    for name, row in found.items():
        equal(row["elements"], epochs * count, name, "elements of many epochs")
    windows = max(row["windows"] for row in found.values())
    check(windows < 1000, "windows", windows)
    equal(rows(database, "SELECT text FROM note WHERE text LIKE '%stage%'"), [], "notes")


def check_short():
    """All short calls are counted, some are timed, and their sum is that of all."""
    count, decode_us, ratios = 4000, 3, []
    # A timed call in which the thread lost its core counts for many, on a busy machine in most runs.
    while not ratios or (min(ratios) >= 1.3 and len(ratios) < 12):
        found, _, _ = record(1, count, 0, decode_us)
        equal({name: row["elements"] for name, row in found.items()}, dict.fromkeys(found, count),
              "counts")
        ratios.append(found["DecodeJpeg"]["own_ns"] / (count * decode_us * 1000))
    check(0.95 < min(ratios) < 1.3, "time of short calls, by the planted time", ratios)


def check_mixed(busy_us, asleep_us):
    """CPU time of calls of which every other one is busy and the others are asleep."""
    count, tried = 1000, []
    busy_ns, sleeping_ns = (count // 2 * us * 1000 for us in (busy_us, SLEEP_COST_US))
    # Only some calls' CPU time is read: on a busy machine their share of the time varies.
    while len(tried) < 4:
        tried.append(record(1, count, 0, busy_us, asleep_us, 0)[0]["DecodeJpeg"]["cpu_ns"])
        if 0.8 * busy_ns < tried[-1] < 1.2 * busy_ns + sleeping_ns:
            return
    check(False, "CPU time of mixed calls", busy_us, asleep_us, tried, "planted", busy_ns)


def check_seldom():
    """A kernel first called inside a call that is not timed is of that call's stage or of none."""
    every = 40
    found, _, _ = record(1, 200 + 101 * every, 0, 0, 0, every)
    feeds = {name: row["feeds"] for name, row in found.items() if name.startswith("Seldom")}
    equal(len(feeds), 100, "kernels that are called once")
    equal(set(feeds.values()) - {"ParallelMapV2", None}, set(), "stages that call them", feeds)


def check_dali(operators_us, reader_us, callback_us, cause, advice, lead):
    """Operators of the executor, the reader with a thread of its own, and what run() takes beside."""
    batches = 30
    found, database, said = record(batches, operators_us, reader_us, callback_us, 0, program="dali_stages")
    name = "DALI", operators_us, reader_us, callback_us
    equal(said, [str(batches), "0"], name, "the program")
    equal({one: (row["kind"], row["kernel"], row["root"], row["feeds"]) for one, row in found.items()},
          {"PopOutputs": ("other", 0, 1, None), "Launch": ("other", 0, 0, "PopOutputs"),
           "ConsumerWait": ("other", 0, 0, "PopOutputs"),
           "DataReader": ("reader", 0, 0, "ConsumerWait"), "ReadOne": ("read", 1, 0, "DataReader"),
           "readers__File": ("read", 1, 0, "PopOutputs"),
           "decoders__Image": ("decode", 1, 0, "PopOutputs"),
           "Resize": ("transform", 1, 0, "PopOutputs")}, name, "stages")
    equal({one: row["elements"] for one, row in found.items()},
          dict.fromkeys(found, batches) | {"ReadOne": 4 * batches}, name, "calls")
    for one, us in (("Resize", operators_us * 3 // 4), ("decoders__Image", operators_us // 4),
                    ("ReadOne", reader_us), ("ConsumerWait", reader_us)):
        check(found[one]["own_ns"] >= batches * us * 1000, name, one, found[one])
    check(found["DataReader"]["own_ns"] < 0.3 * found["DataReader"]["busy_ns"] + 5_000_000, name,
          "a file's time is the file's", found["DataReader"])
    told = json.loads(report("--json", database).out)
    equal(told["cause"], cause, name)
    check(told["advice"][0]["id"] in advice, name, "first step", told["advice"])
    equal([stage["name"] for stage in told["stages"] if stage["waited_for"]][-1], lead, name)


def check_old_dali(operators_us, reader_us, cause, lead):
    """The executors before the dynamic one, whose run() has no range of its own."""
    batches = 30
    found, database, said = record(batches, operators_us, reader_us, 0, 1, program="dali_stages")
    name = "old DALI", operators_us, reader_us
    equal(said, [str(batches), "0"], name, "the program")
    equal({one: (row["kind"], row["kernel"], row["root"], row["feeds"], row["elements"])
           for one, row in found.items() if one not in ("ConsumerWait", "DataReader", "ReadOne")},
          {"RunCPU": ("other", 0, 1, None, batches), "File": ("transform", 1, 0, "RunCPU", batches),
           "decoders__Image": ("decode", 1, 0, "RunCPU", batches),
           "Shrink": ("transform", 1, 0, "RunCPU", batches),
           "Resize": ("transform", 1, 0, "RunCPU", batches)}, name, "stages")
    told = json.loads(report("--json", database).out)
    equal(told["cause"], cause, name)
    equal([stage["name"] for stage in told["stages"] if stage["waited_for"]][-1], lead, name)


def main():
    need_shim()
    # What is planted takes many times as long as a busy machine lets a short sleep take.
    check_old_dali(60000, 1000, "slow_stage", "Resize")
    check_old_dali(2000, 60000, "serial_stage", "ReadOne")
    # More threads where other programs leave cores.
    check_dali(60000, 1000, 0, "slow_stage", ("parallel_stage", "cheaper_stage"), "Resize")
    check_dali(2000, 60000, 0, "serial_stage", ("parallel_stage",), "ReadOne")
    check_dali(2000, 1000, 100000, "slow_stage", ("parallel_stage",), "PopOutputs")
    check_planted()
    check_short()
    check_mixed(400, 100)
    check_mixed(100, 400)
    check_seldom()
    check_many()
    finish()


main()
