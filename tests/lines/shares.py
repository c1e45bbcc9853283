# SPDX-License-Identifier: Apache-2.0
"""Shares of a program of known shares; code objects and threads that come and go meanwhile."""
import json
import math
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pythons  # noqa: E402
from dlprof_test import check, finish, say, skip  # noqa: E402

SECONDS, EVERY_US = 3, 2700
SIGMAS = 4  # of the binomial error: a right sampler misses one of 16,000 figures


def chosen():
    """The oldest, the newest and one between them: the ways to find frames and lines differ."""
    found = list(pythons.observed().items())
    return {name: command for name, command in found[:1] + found[len(found) // 2:][:1] + found[-1:]}


def sample_host(command, host):
    """The host's thread, its samples, what sampling cost, and what the host says of itself."""
    process = pythons.start(command, host, str(SECONDS))
    tid = pythons.told(process)["tid"]
    process.stdin.write(b"\n")
    process.stdin.flush()
    samples, end = pythons.sample(process.pid, "-n", int(SECONDS * 1e6 / EVERY_US), "-i", EVERY_US,
                                  "-t", tid)
    truth = pythons.told(process)
    pythons.end(process)
    return tid, samples, end, truth


def check_shares(name, command):
    tid, samples, end, truth = sample_host(command, "shares_host.py")
    where, total = {}, sum(truth.values())
    for found in samples:
        names = [frame[1] for thread in found if thread["tid"] == tid
                 for frame in thread.get("stack", ())]
        phase = next((one for one in names if one in truth or one == "outside"), None)
        where[phase] = where.get(phase, 0) + 1
    where.pop("outside", None)
    count = sum(where.values())
    check(count > 200, name, "samples", count, end)
    # A sampler that loses the processor within a stack reads parts of two: 12 of 821 were seen.
    check(where.pop(None, 0) <= 0.03 * count, name, "samples of no phase", where)
    for phase, spent in truth.items():
        share, seen = spent / total, where.get(phase, 0) / count
        error = SIGMAS * math.sqrt(share * (1 - share) / count)
        check(abs(seen - share) <= error, name, phase, "is", share, "of the time, seen", seen,
              "+-", error)
        say("{} {}: {:.1f} % of the time, {:.1f} % of {} samples".format(
            name, phase, 100 * share, 100 * seen, count))
    say(name, json.dumps(end))


def check_reuse(name, command):
    process = pythons.start(command, "reuse_host.py")
    pythons.told(process)
    samples, end = pythons.sample(process.pid, "-n", 3000, "-i", 100)
    pythons.end(process)
    tops = [thread["stack"][0] for found in samples for thread in found if thread["stack"]]
    made = [top for top in tops if top[1].startswith("f_")]
    wrong = [top for top in made
             if not re.fullmatch("/made/of/{}.py".format(top[1][2:]), top[0])
             or top[2] not in (0, int(top[1][2:]), int(top[1][2:]) + 1)]
    check(len(made) > 200, name, "samples of what was made", len(made), len(tops))
    check(end["reused"] > 20, name, "reused addresses", end)
    check(len(wrong) <= 0.001 * len(made), name, "of another function", wrong[:5])
    say("{}: {} of {} wrong, {}".format(name, len(wrong), len(made), json.dumps(end)))


def check_lock(name, command):
    """A thread that sleeps shortly waits for the GIL afterwards, if another one holds it long."""
    tid, samples, end, truth = sample_host(command, "lock_host.py")
    waited = {}
    for phase in ("wants", "needs_not"):
        seen = [thread["awaits"] for found in samples for thread in found if thread["tid"] == tid
                and phase in [frame[1] for frame in thread.get("stack", ())]]
        check(len(seen) > 100, name, "samples of", phase, len(seen), end)
        waited[phase] = sum(seen) / max(1, len(seen))
    # The thread's own clock counts what it slept too long, and until it has a core, too.
    check(truth["wants"] - 0.15 < waited["wants"] < truth["wants"] + 0.1, name, truth, waited)
    check(waited["needs_not"] < 0.4, name, "computes without the GIL", waited)
    say("{}: waits for the GIL {:.0f} % of the time, seen {:.0f} %; without need {:.0f} %".format(
        name, 100 * truth["wants"], 100 * waited["wants"], 100 * waited["needs_not"]))


def check_threads(name, command):
    """The main thread is there once, with its stack, however many threads begin and end."""
    process = pythons.start(command, "churn_host.py")
    pythons.told(process)
    samples, end = pythons.sample(process.pid, "-n", 2000, "-i", 100)
    pythons.end(process)
    mine = [[thread for thread in found if thread["tid"] == process.pid] for found in samples]
    right = [threads for threads in mine if len(threads) == 1 and threads[0]["stack"]]
    check(len(samples) == 2000, name, "is observed on", end)
    check(max(map(len, samples)) > 2, name, "saw no other thread")
    # Threads that end while they are walked through hide it now and then: 17 of 2,000 were seen.
    check(len(right) >= 0.98 * len(samples), name, "samples with the main thread", len(right))
    say("{}: {} of {} with the main thread, {}".format(name, len(right), len(samples), json.dumps(end)))


def main():
    if not chosen():
        skip("no CPython 3.8 to 3.15")
    for name, command in chosen().items():
        check_shares(name, command)
        check_reuse(name, command)
        check_threads(name, command)
        check_lock(name, command)
    finish()


main()
