# SPDX-License-Identifier: Apache-2.0
"""Runs programs with the fakes, and reads what the fake device did and what a tracer recorded of that.

The fake device decides when each operation begins and ends when it is submitted, and writes that to
FAKE_TRUTH ("the truth" in these tests): a slow machine cannot make it wrong.
"""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (BUILD, check, environment, equal, failure_count, finish, need_shim,  # noqa
                         report, rows, run, sandboxed, say, scratch, skip, wait_for_drain)

FAKES = os.path.join(BUILD, "tests", "fakes")
LOOP = os.path.join(FAKES, "loop")
MS = 1_000_000
LEGACY = 7  # the stream that torch works on


class Op:
    """An operation of the fake device, from a line of FAKE_TRUTH. begin, end: ns of CLOCK_MONOTONIC."""

    def __init__(self, line):
        (self.kind, device, stream, begin, end, size, copy, source, sync, graph,
         self.name) = line.split(" ", 10)
        self.device, self.stream, self.bytes = int(device), int(stream), int(size)
        self.begin, self.end = int(begin), int(end)
        self.copy, self.source, self.sync = int(copy), int(source), int(sync)
        self.graph = int(graph)


class Run:
    """A program that has ended: its output, its operations, the calls that the fakes logged, and its database."""

    def __init__(self, result, folder):
        self.status, self.out, self.err = result.status, result.out, result.err
        self.folder, self.database = folder, os.path.join(folder, "run.db")
        self.lines = [json.loads(line) for line in self.out.splitlines() if line[:1] == "{"]
        self.steps = [line for line in self.lines if "step" in line]
        self.ops = [Op(line) for line in read(folder, "truth")]
        self.calls = [line.split(" ", 3) for line in read(folder, "calls")]

    def called(self, *names):
        """How often functions were called, each named alone or with its arguments ("cuptiActivityFlushAll 1")."""
        return sum(1 for call in self.calls
                   if call[3] in names or call[3].split(" ")[0] in names)

    def misuse(self):
        return sorted({call[3] for call in self.calls if call[3].startswith("MISUSE")})

    def query(self, text, *arguments):
        return rows(self.database, text, *arguments)

    def meta(self):
        return {row["key"]: row["value"] for row in self.query("SELECT key, value FROM meta")}


def read(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return file.read().splitlines()


def libraries(cuda=13):
    return "{}:{}".format(FAKES, os.path.join(FAKES, "v{}".format(cuda)))


def plan_text(plan):
    return ",".join("{}={}".format(key, value) for key, value in plan.items())


def start(argv, folder=None, cuda=13, preload=True, timeout=60, **changes):
    """Runs argv with the fakes, waits for the end of its drain, and returns its Run."""
    folder = folder or scratch()
    settings = dict(DLPROF_OUT=os.path.join(folder, "run.db"), LD_LIBRARY_PATH=libraries(cuda),
                    CUDA_INJECTION64_PATH=None, FAKE_TRUTH=os.path.join(folder, "truth"),
                    FAKE_LOG=os.path.join(folder, "calls"))
    settings.update(changes)
    result = run(argv, env=environment(preload=preload, **settings), timeout=timeout)
    if preload:
        wait_for_drain(settings["DLPROF_OUT"])
    return Run(result, folder)


def loop(plan, **keywords):
    return start([LOOP, plan_text(plan)], **keywords)


def union(ops, begin=None, end=None):
    """Nanoseconds in which at least one of the operations runs, within [begin, end)."""
    total, last = 0, -1
    for low, high in sorted((op.begin, op.end) for op in ops):
        low = max(low, last, begin if begin is not None else low)
        high = min(high, end) if end is not None else high
        if high > low:
            total += high - low
            last = high
    return total


def busy(ops):
    """The kernels among the operations, also those of graphs, but not the graphs as wholes."""
    return [op for op in ops if op.kind == "kernel"]


def copies(ops, copy=1):
    return [op for op in ops if op.kind == "memcpy" and op.copy == copy]


def syncs(ops, sync):
    return [op for op in ops if op.kind == "sync" and op.sync == sync]


def began_in(ops, begin, end):
    return [op for op in ops if begin <= op.begin < end]


def near(found, expected, *what, share=0.01, slack=20_000):
    """Checks that `found` is `expected` to 1 %, or to `slack` ns: the two clocks and a step's ends differ by that."""
    return check(found is not None and abs(found - expected) <= max(share * expected, slack),
                 *what, "found {}, expected {}".format(found, expected))


def blocked(rows, column, ops, *what):
    """Checks the host's times of blocking calls per step against `ops`, the waits in them. No time is shorter
    than its wait. A busy machine makes some longer, but not all: the least is at most 0.1 ms longer."""
    true = [sum(op.end - op.begin for op in
                began_in(ops, row["begin_ns"], row["begin_ns"] + row["step_ns"])) for row in rows]
    found = [row[column] or 0 for row in rows]
    longer = [f - t for f, t in zip(found, true) if t > 200_000]
    check(len(longer) >= len(rows) / 2 > 0, *what, column, "is there to be seen", true)
    check(all(f >= 0.999 * t - 2_000 for f, t in zip(found, true)), *what, column,
          "shorter than the wait", found, true)
    check(longer and min(longer) < 100_000, *what, column, "longer than the wait", found, true)


class Record:
    """A record that client.c got, from a line of its output."""

    def __init__(self, line):
        (_, kind, begin, end, correlation, stream, size, what, graph,
         self.name) = line.split(" ", 9)
        self.kind, self.begin, self.end = int(kind), int(begin), int(end)
        self.correlation, self.stream, self.bytes = int(correlation), int(stream), int(size)
        self.what, self.graph = int(what), int(graph)


class Traced(Run):
    """A run with client.c injected instead of dlprof."""

    def __init__(self, result, folder):
        super().__init__(result, folder)
        self.said = read(folder, "client")
        self.records = [Record(line) for line in self.said if line.startswith("record ")]

    def answers(self, word):
        return [line.split(" ")[1:] for line in self.said if line.split(" ")[0] == word]

    def of(self, *kinds):
        return [record for record in self.records if record.kind in kinds]


def trace(plan, folder=None, cuda=13, **changes):
    folder = folder or scratch()
    settings = dict(LD_LIBRARY_PATH=libraries(cuda), FAKE_TRUTH=os.path.join(folder, "truth"),
                    FAKE_LOG=os.path.join(folder, "calls"),
                    CLIENT_OUT=os.path.join(folder, "client"),
                    CUDA_INJECTION64_PATH=os.path.join(FAKES, "libclient.so"))
    settings.update(changes)
    result = run([LOOP, plan_text(plan)], env=environment(preload=False, **settings), timeout=60)
    return Traced(result, folder)


def exported(path):
    """The versioned names that a library exports: {"name@@version"}."""
    done = run(["readelf", "--dyn-syms", "-W", path])
    return set(re.findall(r"(\S+@@\S+)", done.out))
