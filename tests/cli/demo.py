# SPDX-License-Identifier: Apache-2.0
"""`dlprof demo` runs every pattern under the real library, and the report finds its cause."""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import forms

# {pattern: (cause, period or None, starved)}, written here and not taken from the program
EXPECTED = {
    "balanced": ("none", None, False),
    "bound": ("loader_capacity", 3, True),
    "head_of_line": ("head_of_line", None, True),
    "slow_worker": ("slow_worker", 4, True),
    "periodic": ("periodic_slow_load", 20, True),
    "intermittent": ("intermittent_loader", None, True),
    "isolated": ("isolated_stall", None, True),
    "cold_cache": ("cold_cache", None, True),
    "epoch_start": ("epoch_start", None, True),
    "checkpoint": ("main_thread_periodic", None, False),
    "no_workers": ("single_process", None, True),
}
AT_ONCE = 6
ATTEMPTS = 3  # the patterns sleep, and other programs may keep them from waking
MOST_S = 30


def start(pattern, folder):
    database = os.path.join(folder, "{}-{}.db".format(pattern, time.monotonic_ns()))
    return subprocess.Popen([t.DLPROF, "demo", pattern, "--json", "-o", database],
                            env=t.environment(preload=False, DLPROF_DISABLE="1"),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE), database


def judge(pattern, process, database):
    """Checks a run of a pattern; returns complaints that another attempt may not have."""
    out, err = process.communicate(timeout=4 * MOST_S)
    t.equal((process.returncode, err), (0, b""), pattern)
    found = json.loads(out)
    cause, period, starved = EXPECTED[pattern]
    workers = 0 if pattern == "no_workers" else found["workers"]["count"]
    loading = t.rows(database, "SELECT COUNT(DISTINCT worker_id) AS n FROM load")[0]["n"]
    t.check(loading == workers != 1, pattern, "workers that load", loading, workers)
    t.check(found["run"]["duration_s"] < MOST_S, pattern, "takes", found["run"]["duration_s"])
    forms.check_forms(database)
    wrong = []
    for name, have, want in (("cause", found["cause"], cause),
                             ("starved", found["starved"], starved),
                             ("period", found["period"]["batches"], period)):
        # Where no period is expected, one that is found beside the cause is no error.
        if have != want and not (name == "period" and want is None):
            wrong.append("{} {!r}, not {!r}".format(name, have, want))
    if pattern == "slow_worker" and found["slow_worker"] != 1:
        wrong.append("slow worker {}".format(found["slow_worker"]))
    return wrong


def check_patterns(folder):
    left = sorted(EXPECTED)
    for attempt in range(ATTEMPTS):
        failed = []
        for first in range(0, len(left), AT_ONCE if attempt == 0 else 1):
            part = left[first:first + (AT_ONCE if attempt == 0 else 1)]
            begun = [(pattern, *start(pattern, folder)) for pattern in part]
            for pattern, process, database in begun:
                wrong = judge(pattern, process, database)
                if wrong:
                    t.say(pattern, "attempt", attempt, wrong)
                    failed.append(pattern)
        left = failed
        if not left:
            break
    t.equal(left, [], "patterns that are not judged as what they are")


def check_rest(folder):
    env = t.environment(preload=False, TMPDIR=folder)
    listed = t.run([t.DLPROF, "demo"], env=env)
    t.equal(listed.status, 0, listed.err)
    for pattern in EXPECTED:
        t.check("  {} ".format(pattern) in listed.out, "not listed:", pattern)
    wrong = t.run([t.DLPROF, "demo", "slow_workr"], env=env)
    t.equal((wrong.status, wrong.err), (2, "dlprof: there is no pattern 'slow_workr'; did you mean "
                                           "slow_worker?\n"))
    patterns = json.loads(t.run([t.DLPROF, "demo", "--json"], env=env).out)["patterns"]
    t.equal({p["name"]: p["cause"] for p in patterns}, {k: v[0] for k, v in EXPECTED.items()},
            "what the program says of its patterns")
    unknown = t.run([t.DLPROF, "demo", "none"], env=env)
    t.equal((unknown.status, unknown.out), (2, ""), unknown.err)
    t.check("dlprof demo lists them" in unknown.err, unknown.err)
    taken = os.path.join(folder, "taken.db")
    open(taken, "w").close()
    refused = t.run([t.DLPROF, "demo", "balanced", "-o", taken], env=env)
    t.check(refused.status == 2 and "exists" in refused.err, refused.err)
    shown = t.run([t.DLPROF, "demo", "no_workers"], env=env)
    t.equal((shown.status, shown.err), (0, ""), "text")
    t.check("HIGHLY INPUT-BOUND" in shown.out and folder in shown.out, "text", shown.out[:500])


def main():
    t.need_shim()
    check_patterns(t.scratch())
    check_rest(t.scratch())
    t.finish()


main()
