# SPDX-License-Identifier: Apache-2.0
"""Makes 100,000 records a second for four minutes. No memory may grow, and no record may be lost.

usage: soak.py [SECONDS] [--double]
"""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import (ARGUMENTS, DOUBLE, PROBE, Table, median, probe_settings, rows,  # noqa: E402
                 scratch, wait_for_drain)

NODES, NODE_US = 200, 8
TICKS = os.sysconf("SC_CLK_TCK")


def sample(pid):
    """Returns a process's resident bytes, and the CPU seconds of its threads but the main one; None: it is gone."""
    try:
        with open("/proc/{}/statm".format(pid)) as file:
            resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        cpu = {}
        for thread in os.listdir("/proc/{}/task".format(pid)):
            if int(thread) == pid:
                continue
            with open("/proc/{}/task/{}/stat".format(pid, thread)) as file:
                fields = file.read().rpartition(")")[2].split()
            cpu[int(thread)] = (int(fields[11]) + int(fields[12])) / TICKS
        return resident, cpu
    except (OSError, ValueError):
        return None


def watch(seconds, database):
    process = subprocess.Popen([PROBE, "replay", str(NODES), str(seconds), str(NODE_US)],
                               stdout=subprocess.PIPE, text=True,
                               env=probe_settings(preload=True, DLPROF_OUT=database,
                                                  DLPROF_CUDA="default", DLPROF_ACTIVATE="always"))
    samples, end = [], time.monotonic() + seconds + 30
    while process.poll() is None and time.monotonic() < end:
        found = sample(process.pid)
        if found:
            samples.append((time.monotonic(),) + found)
        time.sleep(1)
    if process.poll() is None:
        process.kill()
    out, _ = process.communicate()
    return samples, [line.split() for line in out.splitlines()], process.returncode


def tenth(values, last):
    count = max(1, len(values) // 10)
    return median(values[-count:] if last else values[count:2 * count] or values)


def main():
    seconds = 6 if DOUBLE else int(ARGUMENTS[0]) if ARGUMENTS else 250
    table, database = Table("soak"), os.path.join(scratch(), "run.db")
    samples, lines, status = watch(seconds, database)
    wait_for_drain(database, timeout=40)
    meta = {}
    if os.path.exists(database):
        meta = {row["key"]: row["value"] for row in rows(database, "SELECT key, value FROM meta")}
    table.row("exit status", status, 0, status == 0)
    launches = [int(w[1]) for w in lines if w[0] == "launches"]
    made = launches[0] * NODES if launches else 0
    records = int(meta.get("cuda_records") or 0)
    table.row("records a second", "{:.0f}".format(made / seconds), ">= 50,000",
              made / seconds >= 50_000 or DOUBLE)
    # An earlier version of CUPTI failed after 25 million records.
    table.fact("records", "{:.1f} million".format(made / 1e6))
    table.row("records, of {} made".format(made), records, "all", records >= made > 0)
    for key in "cuda_bad_ts", "cuda_dropped", "cuda_own_drop":
        table.row(key, meta.get(key), 0, meta.get(key) == "0")
    free = [int(w[4]) for w in lines if w[0] == "replay"]
    if len(free) > 10:
        lost = tenth(free, False) - tenth(free, True)
        table.row("device memory lost", "{:.1f} MB".format(lost / 1e6), "<= 8 MB", lost <= 8e6)
    resident = [r for _, r, _ in samples]
    if len(resident) > 10:
        grown = tenth(resident, True) - tenth(resident, False)
        table.row("resident memory gained", "{:.1f} MB".format(grown / 1e6), "<= 16 MB",
                  grown <= 16e6)
    # CUPTI's own thread might get slower and slower: lists its CPU use in windows of 20 s, compares second and last.
    window = min(20, max(1, len(samples) // 5))
    if len(samples) > 4 * window:
        def rate(a, b, threads):
            return sum(samples[b][2].get(thread, 0) - samples[a][2].get(thread, 0)
                       for thread in threads) / (samples[b][0] - samples[a][0])
        threads = sorted(samples[-1][2])
        starts = range(0, len(samples) - window, window)
        for thread in threads:
            table.fact("cores of helper thread {}, each {} s".format(threads.index(thread) + 1, window),
                       ", ".join("{:.3f}".format(rate(a, a + window, [thread])) for a in starts))
        first, last = rate(window, 2 * window, threads), rate(-1 - window, -1, threads)
        table.row("CPU of the helper threads, second and last {} s".format(window),
                  "{:.3f}, {:.3f} cores".format(first, last), "last <= 1.2 of second",
                  last <= 1.2 * first or DOUBLE)
    table.end()


main()
