# SPDX-License-Identifier: Apache-2.0
"""With DLPROF_CUDA=api the time that each thread spends in CUDA's calls, per step, is right to 1 %.

usage: api.py. The fakes write down every call of every thread. A call of the driver that a call of the
runtime makes has a record as well, but counts only as a part of the runtime's call.
"""
import concurrent.futures
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (HERE, MS, check, equal, finish, loop, near, need_shim, report, say)  # noqa: E402

STREAM, EVENT, DEVICE, ITEM, LATE, COPY = 1, 2, 3, 4, 5, 6
NEW, EX, THREAD = 1, 2, 3
PLAN = dict(steps=20, wait=3000, kernels=10, kernel=250)
API = dict(DLPROF_CUDA="api", FAKE_TRUTH_CALLS="1")
SUMS = ("sync_ns", "copy_ns", "launch_ns", "launch_count")

CASES = {
    "stream": dict(sync=STREAM),
    "event": dict(sync=EVENT),
    "device": dict(sync=DEVICE),
    "item": dict(sync=ITEM, pinned=0),
    "copy": dict(sync=COPY),
    "driver": dict(driver=1),
    "compiled by 13": dict(launch=NEW),
    "attributes": dict(launch=EX),
    "per thread": dict(launch=THREAD),
    "graph": dict(graph=1),
    "helpers": dict(helpers=2),
    "12.8": dict(cuda=12),
    # CUPTI 13.0.0 does not record that a thread waits for a whole device.
    "13.0.0": dict(sync=DEVICE, env={"FAKE_CUPTI_VERSION": 130000}),
    "full": dict(graph=1, env={"DLPROF_CUDA": "full"}),
    "disorder": dict(helpers=1, env={"FAKE_CUPTI_OUT_OF_ORDER": 1, "FAKE_CUPTI_DELAY_MS": 30}),
}


def numbers():
    """The calls that api.def lists: {(domain, number)}."""
    path = os.path.join(HERE, "..", "..", "shim", "cuda", "api.def")
    with open(path) as file:
        rows = re.findall(r"^CALL\((\w+), \w+, \w+, (\d+)\)", file.read(), re.MULTILINE)
    return {(domain, int(number)) for domain, number in rows}


def enabled(done):
    """The calls of CUDA of which dlprof enabled the records one by one: [(domain, number)]."""
    found = []
    for call in done.calls:
        said = re.match(r"cuptiActivityEnable(Runtime|Driver)Api (\d+)", call[3])
        if said:
            found.append((said.group(1).upper(), int(said.group(2))))
    return found


def column_of(call):
    if "Synchronize" in call.name:
        return "sync_ns"
    if "Memcpy" in call.name:
        return "copy_ns"
    if "Launch" in call.name:
        return "launch_ns"
    return None


def outer_calls(done):
    """[(thread, call)] of the calls that are not made by another call."""
    return [(op.device, op) for op in done.ops
            if op.kind == "call" and op.stream == 0 and column_of(op)]


def check_step(name, row, calls, training, last_ns):
    """Checks a row of gpu_call; a call that ends after `last_ns`, the last flush, may be missing in it."""
    begin, end = row["begin_ns"], row["begin_ns"] + row["step_ns"]
    for prefix, mine in ("", True), ("other_", False):
        some = [call for thread, call in calls if (thread == training) == mine]
        for column in SUMS[:3]:
            parts = [(max(0, min(call.end, end) - max(call.begin, begin)), call.end >= last_ns)
                     for call in some if column_of(call) == column]
            true, open_ns = sum(ns for ns, _ in parts), sum(ns for ns, late in parts if late)
            near(row[prefix + column], true - open_ns / 2, name, "step", row["batch"],
                 prefix + column, slack=20_000 + open_ns / 2)
        launches = [call for call in some if column_of(call) == "launch_ns"]
        edge = sum(min(abs(call.begin - begin), abs(call.begin - end)) < 20_000
                   or begin <= call.begin < end and call.end >= last_ns for call in launches)
        true = sum(begin <= call.begin < end for call in launches)
        check(abs(row[prefix + "launch_count"] - true) <= edge, name, "step", row["batch"],
              prefix + "launches", row[prefix + "launch_count"], true)


def check_case(name):
    plan = dict(PLAN, **CASES[name])
    cuda = plan.pop("cuda", 13)
    done = loop(plan, cuda=cuda, **dict(API, **plan.pop("env", {})))
    equal((done.status, done.misuse()), (0, []), name, "status, misuse", done.err)
    meta = done.meta()
    equal((meta.get("cuda_mode"), meta.get("cuda_level_reason")), ("cupti", None), name, "mode")
    for key in "cuda_dropped", "cuda_own_drop":
        equal(meta.get(key), "0", name, key)
    # The records of the calls that helpers were in when the program ended have no end.
    check(int(meta.get("cuda_bad_ts", 99)) <= 2 * plan.get("helpers", 0), name, "cuda_bad_ts", meta)
    # Each call of api.def is enabled once, and not all calls at once.
    equal(sorted(enabled(done)), sorted(numbers()), name, "enabled")
    equal(done.called("cuptiActivityEnable 4", "cuptiActivityEnable 5"), 0, name, "wholesale")
    training = int(done.calls[0][1])
    calls = outer_calls(done)
    rows = done.query("SELECT * FROM gpu_call WHERE step_ns NOT NULL ORDER BY batch")
    equal(len(rows), plan["steps"], name, "steps")
    last_ns, = [int(call[0]) for call in done.calls if call[3] == "cuptiActivityFlushAll 1"]
    for row in rows:
        check_step(name, row, calls, training, last_ns)
    waited = sum(row["sync_ns"] + row["copy_ns"] for row in rows)
    others = sum(row["other_sync_ns"] + row["other_copy_ns"] for row in rows)
    check(waited > 20 * MS, name, "the training thread waits for the GPU", waited)
    equal(others > 0, "helpers" in plan, name, "other threads")
    say(name, "{} calls, in sync {:.1f} ms, in copies {:.1f} ms, others {:.1f} ms".format(
        len(calls), sum(row["sync_ns"] for row in rows) / MS,
        sum(row["copy_ns"] for row in rows) / MS, others / MS))
    return done, rows


def close(found, expected, *what):
    check(found is not None and abs(found - expected) < 1e-6, *what, found, expected)


def check_report():
    """The report gives the calls of the training thread and those of the other threads apart, in text and JSON."""
    done, rows = check_case("helpers")
    said = json.loads(report("--json", done.database).out)["gpu"]
    equal((said["level"], said["level_reason"]), ("api", None), "level")
    rows = done.query("SELECT * FROM gpu_call")
    for key, column in (("training_sync_s", "sync_ns"), ("training_copy_s", "copy_ns"),
                        ("training_launch_s", "launch_ns"), ("others_sync_s", "other_sync_ns"),
                        ("others_copy_s", "other_copy_ns")):
        close(said["calls"][key], sum(row[column] for row in rows) / 1e9, key)
    close(said["calls"]["training_launches_per_step"],
          sum(row["launch_count"] for row in rows) / len(rows), "launches")
    text = re.sub(r"\s+", " ", report("-v", done.database).out)
    for words in ("the training thread until the GPU was done", "all other threads:",
                  "the training thread, 10 calls a step"):
        check(words in text, "report says", words, text)


def check_blocking_copy():
    """The GPU's idle time after a blocking copy is put down to that copy, at level api; else to the host."""
    plan = dict(PLAN, sync=COPY, think=2000)
    for level, gap, other in ("api", "gap_sync_ns", "gap_host_ns"), \
                             ("default", "gap_host_ns", "gap_sync_ns"):
        done = loop(plan, DLPROF_CUDA=level)
        equal(done.status, 0, level, done.err)
        rows = done.query("SELECT * FROM gpu_step WHERE step_ns NOT NULL")
        true = 2_000_000 * len(rows)
        found, rest = (sum(row[column] for row in rows) for column in (gap, other))
        check(found > 0.95 * true and rest < 0.5 * true, level, "idle after the copy", gap, found,
              other, rest, "thinking", true)


def check_older():
    """With a CUPTI that cannot enable single calls dlprof records what `default` does, and says so in one line."""
    for knobs in (dict(cuda=12, FAKE_CUPTI_VERSION=22),
                  dict(FAKE_CUPTI_RC_ACTIVITYENABLERUNTIMEAPI=1,
                       FAKE_CUPTI_RC_ACTIVITYENABLEDRIVERAPI=1)):
        done = loop(PLAN, **dict(API, **knobs))
        equal((done.status, done.misuse()), (0, []), knobs, "status, misuse", done.err)
        meta = done.meta()
        equal((meta.get("cuda_mode"), meta.get("cuda_level")), ("cupti", "default"), knobs, "level")
        check("12.5" in meta.get("cuda_level_reason", ""), knobs, "reason", meta)
        if "cuda" in knobs:
            equal(enabled(done), [], knobs, "enabled")
        equal(done.query("SELECT * FROM gpu_call"), [], knobs, "rows")
        busy = done.query("SELECT COUNT(gpu_busy_ns) AS n FROM batch")[0]["n"]
        equal(busy, PLAN["steps"], knobs, "busy is known")
        lines = [line for line in report("-v", done.database).out.splitlines() if "level default" in line]
        equal(len(lines), 1, knobs, "lines that say so")
        said = json.loads(report("--json", done.database).out)["gpu"]
        equal((said["level"], said["calls"]), ("default", None), knobs, "JSON")
    # CUPTI refuses one call only: the others are still recorded.
    done = loop(PLAN, **dict(API, FAKE_CUPTI_RC_ACTIVITYENABLERUNTIMEAPI="1:505"))
    equal(done.meta().get("cuda_level"), "api", "one refused: level")
    check(done.query("SELECT * FROM gpu_call"), "one refused: rows")


def check_others():
    """The levels default and memcpy enable and store no calls of CUDA."""
    for level in "default", "memcpy":
        done = loop(PLAN, DLPROF_CUDA=level)
        equal((enabled(done), done.query("SELECT * FROM gpu_call")), ([], []), level, "calls")
        equal(done.meta().get("cuda_level"), level, level)


def main():
    need_shim()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        done = [pool.submit(check_case, name) for name in CASES if name != "helpers"]
        done += [pool.submit(job) for job in (check_report, check_blocking_copy, check_older,
                                              check_others)]
        for future in done:
            future.result()
    finish()


main()
