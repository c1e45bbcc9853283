# SPDX-License-Identifier: Apache-2.0
"""Finds out what CUPTI does on this GPU where its documentation leaves room.

usage: semantics.py [CHECK...] [--double]. Takes three minutes. Each check runs a probe under a small tracer,
client.c; only `ends` runs dlprof. Facts that are not judged decided how dlprof works: see README.md.
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import (ARGUMENTS, BUILD, CLIENT, DOUBLE, LIBCUPTI, Table, Trace, median, probe,  # noqa
                 quantile, rows, scratch, union, us, wait_for_drain)

KERNELS = (3, 10)
COPY, MEMSET, SYNC, GRAPH = 1, 2, 38, 51
ALL = "10,1,2,38"


def kernels(trace):
    """Returns the probe's kernels by begin, without its first one, which only warms up."""
    return sorted((r for r in trace.of(*KERNELS) if r.name.startswith("spin")),
                  key=lambda r: r.begin)[1:]


def correlation(table):
    trace = Trace("spins", 20, 50, 50)
    ids = [r.correlation for r in kernels(trace)]
    table.fact("correlation: correlation ids without an API kind", "{} of {} are not 0".format(
        sum(map(bool, ids)), len(ids)))
    trace = Trace("spins", 20, 50, 50, CLIENT_KINDS=ALL + ",4")
    ids = [r.correlation for r in kernels(trace)]
    table.row("correlation: correlation ids with one", "{} of {}".format(sum(map(bool, ids)), len(ids)),
              "all", all(ids) and len(ids) == 20)


def unsubscribed(table):
    trace = Trace("spins", 50, 50, 50, CLIENT_UNSUBSCRIBE=1)
    found = len(kernels(trace))
    table.row("unsubscribed: kernels traced after cuptiUnsubscribe", found, 50, found == 50)
    again = [words[1] for words in trace.answers("again")]
    table.row("unsubscribed: and the next one may subscribe", again, ["0"], again == ["0"])


def replaced(table):
    trace = Trace("storm", 4000, 100, 0, CLIENT_REPLACE_MS=150, CLIENT_BUFFER=65536)
    old = {words[2] for words in trace.answers("request")}
    taken = {words[1] for words in trace.answers("taken")}
    table.fact("replaced: registered twice", "{} old buffers came to the new callback, {} new ones".format(
        len(old & taken), len(taken - old)))
    found = len(kernels(trace))
    table.row("replaced: kernels over both", found, 4000, found == 4000)


def durations(table):
    trace = Trace("spins", 1000, 5, 5000, timeout=200)
    spins, found = trace.did("spin"), kernels(trace)
    if not table.row("durations: kernels", len(found), len(spins), len(found) == len(spins) > 0):
        return
    off = [abs(r.end - r.begin - 1000 * int(w[3])) for r, w in zip(found, spins)]
    table.row("durations: duration off by, median", us(median(off)), "<= 5 us", median(off) <= 5_000)
    table.row("durations: duration off by, 99 %", us(quantile(off, 0.99)), "<= 20 us",
              quantile(off, 0.99) <= 20_000)
    late = [max(int(w[1]) - r.begin, r.end - int(w[2])) for r, w in zip(found, spins)]
    table.row("durations: outside of the host's stamps by, 99 %", us(quantile(late, 0.99)), "<= 5 us",
              quantile(late, 0.99) <= 5_000)
    table.fact("durations: worst", us(max(late)))


def forced(table):
    trace = Trace("spins", 1, 500000, 500000, CLIENT_FORCE_MS=250)
    ends = [r.end for r in kernels(trace)]
    table.fact("forced: forced flush in a kernel of 500 ms", "{} records, {} without an end".format(
        len(ends), ends.count(0)))


def delivery(table):
    rates = {"100/s": (200, 100, 9900), "5k/s": (10000, 20, 180), "50k/s": (100000, 10, 0)}
    for rate, (count, length, pause) in rates.items():
        for name, change in ("FlushPeriod(1000)", dict(CLIENT_PERIOD_MS=1000)), \
                            ("FlushAll(0) every s", dict(CLIENT_FLUSH_MS=1000)):
            trace = Trace("storm", count, length, pause, **change)
            delays, delivered = [], 0
            for words in trace.said:
                if words[:1] == ["buffer"]:
                    delivered = int(words[2])
                elif words[:1] == ["record"] and int(words[1]) in KERNELS and int(words[3]):
                    delays.append(delivered - trace.to_mono(int(words[3])))
            worst = max(delays, default=None)
            table.fact("delivery: {}, {}: delay median, max".format(rate, name), "{}, {} of {}".format(
                us(median(delays)), us(worst), len(delays)))


def fork(table):
    trace = Trace("fork")
    for words in trace.did("child"):
        taken = int(words[2]) - int(words[1])
        table.row("fork: a forked child ends", us(taken), "< 30 s", taken < 30e9 and words[3] == "0")
    if not trace.did("child"):
        table.row("fork: a forked child ends", "never", "< 30 s", False)


def ends(table):
    """Counts the kernels that dlprof loses when a process ends, for each way to end."""
    for how, name in (0, "return"), (1, "_exit"), (2, "abort"), (3, "SIGTERM"), (4, "SIGKILL"):
        folder = scratch()
        database = os.path.join(folder, "run.db")
        probe("storm", 20000, 50, 40, "end", how, preload=True, DLPROF_OUT=database)
        wait_for_drain(database)
        found = None
        if os.path.exists(database):
            found = rows(database, "SELECT SUM(count) AS n FROM gpu_kernel")[0]["n"]
        found = found or 0
        limit = 0 if how < 2 else 20000 if DOUBLE else 3 * 1213
        table.row("ends: kernels lost by " + name, 20001 - found, "<= {}".format(limit),
                  20001 - found <= limit + (how > 1) * 20000 * DOUBLE)


def syncs(table):
    trace = Trace("syncs")
    records = trace.of(SYNC)
    for words in [w for w in trace.lines if w[-1:] == ["sync"]]:
        begin, end = int(words[1]), int(words[2])
        inside = [r for r in records if begin - 20_000 <= r.begin < end]
        blocked = end - begin > 1_000_000
        table.fact("syncs: " + words[0], "host {}; {}".format(
            "blocked " + us(end - begin) if blocked else "not blocked",
            "record of type " + ",".join(str(r.what) for r in inside) if inside else "no record"))


def graph(table):
    nodes = Trace("graph", 200, 20)
    wholes = Trace("graph", 200, 20, CLIENT_KINDS=ALL + ",51")
    per_launch = [len([r for r in nodes.records if r.kind in KERNELS + (COPY, MEMSET) and r.graph])]
    table.row("graph: nodes traced", per_launch[0], 4000, per_launch[0] == 4000)
    spans = [r.end - r.begin for r in wholes.of(GRAPH)]
    table.row("graph: graphs traced as wholes", len(spans), 20, len(spans) == 20)
    table.row("graph: and their nodes then", len([r for r in wholes.records if r.graph and
                                              r.kind in KERNELS]), 0,
              not [r for r in wholes.of(*KERNELS) if r.graph])
    work = union([(r.begin, r.end) for r in nodes.records if r.graph and r.end]) / 20
    table.fact("graph: whole, and the union of its nodes", "{}, {}".format(us(median(spans)), us(work)))
    nodes = Trace("graph", 200, 20, CLIENT_KINDS=ALL + ",4")
    ids = {r.correlation for r in nodes.records if r.graph}
    table.fact("graph: correlation ids of 20 launches, with an API kind", len(ids))


def streams(table):
    trace = Trace("streams", 4, 2000)
    spans = sorted((r.begin, r.end) for r in kernels(trace))
    rounds = [spans[i:i + 8] for i in range(0, len(spans), 8)]
    found = [union(one) for one in rounds if len(one) == 8]
    # The last stream takes longest: it runs a kernel of 4 / 4 x 2 ms, and then one of 2 ms.
    expected = 4_000_000
    off = median([abs(x - expected) for x in found]) if found else None
    table.row("streams: four streams, union off by, median", us(off), "<= 2 %",
              off is not None and off <= 0.02 * expected)


def copies(table):
    trace = Trace("copies")
    done = [(w[0], int(w[3])) for w in trace.lines if w[0] in ("pinned", "pageable")]
    found = [({1: "pageable", 2: "pinned"}.get(r.what // 100, r.what // 100), r.bytes)
             for r in sorted(trace.of(COPY), key=lambda r: r.begin)]
    table.row("copies: copies, kind of memory and bytes", "{} of {} as planned".format(
        sum(a == b for a, b in zip(found, done)), len(done)), "all", found == done)
    if found != done:
        table.fact("copies: found", found)


def late(table):
    trace = Trace("late", CLIENT, inject=None)
    table.row("late: late attach returns", [w[1] for w in trace.did("late")], ["1"],
              [w[1] for w in trace.did("late")] == ["1"])
    spins = [r for r in trace.of(*KERNELS) if not r.graph]
    table.row("late: kernels after it", len(spins), 20, len(spins) == 20)
    old_and_new = {r.graph for r in trace.records if r.graph}
    table.fact("late: graphs seen of the one from before and the one from after", len(old_and_new))


def refused(table):
    trace = Trace("spins", 5, 50, 50, CLIENT_FAIL=1)
    # If it returns 0, driver 580 ends the process by SIGSEGV. dlprof always returns 1.
    ran = len(trace.did("spin"))
    table.row("refused: InitializeInjection says 0, kernels that ran", ran, "5 on the double",
              ran == 5 if DOUBLE else None)


def second(table):
    path = LIBCUPTI or os.path.join(BUILD, "tests", "fakes", "v13", "libcupti.so.13")
    if not os.path.exists(path):
        table.fact("second: a second libcupti", "none found to copy")
        return
    copy = os.path.join(scratch(), "libcupti-second.so")
    shutil.copy(os.path.realpath(path), copy)
    trace = Trace("spins", 5, 50, 50, CLIENT_SECOND=copy)
    table.fact("second: of a second libcupti, cuptiSubscribe and cuptiActivityEnable say",
               trace.answers("second"))
    table.row("second: and the program goes on", len(trace.did("spin")), 5,
              len(trace.did("spin")) == 5)


CHECKS = {function.__name__: function for function in (
    correlation, unsubscribed, replaced, durations, forced, delivery, fork, ends,
    syncs, graph, streams, copies, late, refused, second)}


def main():
    table = Table("semantics")
    table.each([(name, CHECKS[name], table) for name in ARGUMENTS or CHECKS])


main()
