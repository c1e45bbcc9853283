# SPDX-License-Identifier: Apache-2.0
"""The lines of code that the drain sees: their shares, in which part of the time they were, where a
worker is that has stopped, and what is kept when the program is killed."""
import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import stub

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lines_host.py")
NAMES = ("computes", "looks_up", "sleeps")
KINDS = ("recv", "lock", "sleep", "loop")
TRIES = 3


def environment(packages, database, **changes):
    return t.environment(PYTHONPATH=packages, DLPROF_OUT=database, **changes)


def stacks(database):
    """{(role, phase): {function of the host's: samples}}; None: a stack without one."""
    frames = {row["id"]: row for row in t.rows(database, "SELECT * FROM frame")}
    found = collections.defaultdict(collections.Counter)
    for row in t.rows(database, "SELECT * FROM stack"):
        t.check(50000000 * row["count"] <= row["ns"] <= 1000000000 * row["count"], "weights", row)
        own = [frames[int(one)]["function"] for one in row["frames"].split()
               if frames[int(one)]["file"].endswith("lines_host.py")]
        own = [name for name in own if name in NAMES] or own or [None]
        found[row["role"], row["phase"]][own[0]] += row["count"]
    return found


def error_of(found, seconds):
    """How many standard deviations the worst share is from the truth, beyond a point for the
    moments in which the drain got no core."""
    count, time_s, worst = sum(found[name] for name in NAMES), sum(seconds.values()), 0
    for name in NAMES:
        share = seconds[name] / time_s
        sigma = (share * (1 - share) / max(count, 1)) ** 0.5
        worst = max(worst, (abs(found[name] / max(count, 1) - share) - 0.01) / sigma)
    return worst


def check_shares(packages):
    """On a machine that others use, too, the least error of some tries is that of the method."""
    for workers in (1, 0):
        errors, counts = {}, {}
        for number in range(TRIES):
            folder = t.scratch()
            database = os.path.join(folder, "run.db")
            done = t.run([t.PYTHON, HOST, "shares", str(workers), folder],
                         env=environment(packages, database))
            t.equal(done.status, 0, done.err)
            t.wait_for_drain(database)
            found = stacks(database)
            t.equal(t.rows(database, "SELECT value FROM meta WHERE key = 'lines'"),
                    [{"value": "observed"}])
            for part, key in (("load", ("worker" if workers else "main", "load")),
                              ("step", ("main", "step"))):
                if os.path.exists(os.path.join(folder, part)):
                    with open(os.path.join(folder, part)) as file:
                        error = error_of(found[key], json.load(file))
                    errors[part] = min(errors.get(part, 99), error)
                    counts[part] = max(counts.get(part, 0), sum(found[key].values()))
            if workers:
                t.check(not found["main", "load"], "a worker loads", found)
                waits = sum(sum(found["main", phase].values())
                            for phase in ("not_ready", "receiving", "sampling", "epoch_start",
                                          "epoch_end"))
                t.check(waits, "the training waits", found)
            if all(error < 3 for error in errors.values()):
                break
        t.say("{} workers, samples {}, errors {}".format(workers, counts, errors))
        t.check(all(error < 3 for error in errors.values()), "shares are not the truth", errors)
        t.check(min(counts.values()) >= 30, "too few samples", counts)


def check_stops(packages):
    """Each at the place where it stopped, and since when; and its training, which waits for it."""
    folder = t.scratch()
    begun = {}
    for kind in KINDS:
        database = os.path.join(folder, kind + ".db")
        begun[kind] = subprocess.Popen([t.PYTHON, HOST, "stop", kind],
                                       env=environment(packages, database), start_new_session=True)
    end = time.monotonic() + 60
    left = set(KINDS)
    while left and time.monotonic() < end:
        time.sleep(1)
        for kind in sorted(left):
            if where_is(os.path.join(folder, kind + ".db"), "in_" + kind):
                left.discard(kind)
    t.check(not left, "it is not said where the worker is in", left)
    for kind, process in begun.items():
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for kind in KINDS:
        database = os.path.join(folder, kind + ".db")
        t.wait_for_drain(database)
        found = stacks(database)
        t.check(sum(sum(one.values()) for one in found.values()) > 20, "samples of", kind, found)


def where_is(database, function):
    try:
        found = t.rows(database, "SELECT role, worker_id, seen_ns - since_ns AS ns, frames,"
                                 " (SELECT group_concat(function) FROM frame f WHERE"
                                 "  ' ' || frames || ' ' LIKE '% ' || f.id || ' %') AS names"
                                 " FROM doing")
    except Exception:  # its first second
        return False
    workers = [row for row in found if row["role"] == "worker" and row["frames"]]
    for row in workers:
        t.check(row["worker_id"] in (0, 1), row)
        t.check(0 < row["ns"] < 60 * 10 ** 9, row)
    return any(function in row["names"].split(",") for row in workers) and any(
        row["role"] == "main" and row["frames"] for row in found)


def check_scope(packages):
    """Where Yama's scope is 1 each process lets the drain read it, and nobody else. There is no Yama
    where this runs, but its file can be: the call is what counts."""
    if os.geteuid() or not shutil.which("unshare") or not shutil.which("strace"):
        t.say("no root, unshare or strace: what is set for Yama is not tried")
        return
    for scope, lines, processes in (("1", "auto", 2), ("0", "auto", 0), ("2", "auto", 0),
                                    ("1", "off", 0)):
        folder = t.scratch()
        os.mkdir(os.path.join(folder, "yama"))
        with open(os.path.join(folder, "yama", "ptrace_scope"), "w") as file:
            file.write(scope + "\n")
        calls, database = os.path.join(folder, "calls"), os.path.join(folder, "run.db")
        done = t.run(["unshare", "-m", "sh", "-c", 'mount --bind "$1" /proc/sys/kernel || exit 77; '
                      'shift; exec "$@"', "-", folder, "strace", "-f", "-e", "trace=prctl,execve",
                      "-o", calls, "-E", "LD_PRELOAD=" + t.SHIM, t.PYTHON, HOST, "shares", "1",
                      folder], env=dict(environment(packages, database, DLPROF_LINES=lines),
                                        LD_PRELOAD=""))
        if done.status == 77:
            t.say("nothing can be mounted: what is set for Yama is not tried")
            return
        t.equal(done.status, 0, done.err)
        t.wait_for_drain(database)
        with open(calls) as file:
            found = file.read().split("\n")
        drain = {line.split()[0] for line in found if "dlprof-drain" in line and "execve" in line}
        named = [line.split() for line in found if "PR_SET_PTRACER" in line]
        t.equal(len(named), processes, "processes that name the drain", scope, lines, named)
        t.equal({words[0] for words in named} & drain, set(), "not the drain itself")
        t.check(all(words[2].strip("),") in drain for words in named), named, drain)


def check_gaps(packages):
    """Samples from between epochs, of whichever loader, have a phase of their own; steps stay steps."""
    database = os.path.join(t.scratch(), "run.db")
    t.equal(t.run([t.PYTHON, HOST, "gaps"], env=environment(packages, database)).status, 0)
    t.wait_for_drain(database)
    found = stacks(database)
    gaps, steps = found["main", "between_epochs"], found["main", "step"]
    t.check(gaps["computes"] >= 10 and steps["looks_up"] >= 10, found)
    t.check(gaps["looks_up"] <= 1 and not steps["computes"], found)


def check_off(packages):
    folder = t.scratch()
    database = os.path.join(folder, "run.db")
    t.equal(t.run([t.PYTHON, HOST, "shares", "1", folder],
                  env=environment(packages, database, DLPROF_LINES="off")).status, 0)
    t.wait_for_drain(database)
    t.equal(dict(stacks(database)), {})
    t.equal(t.rows(database, "SELECT value FROM meta WHERE key = 'lines'"), [])


def main():
    t.need_shim()
    t.need_torch()
    # As an installed package, which is not the user's own code.
    packages = stub.make(os.path.join(t.scratch(), "site-packages"))
    check_shares(packages)
    check_stops(packages)
    check_scope(packages)
    check_gaps(packages)
    check_off(packages)
    t.finish()


main()
