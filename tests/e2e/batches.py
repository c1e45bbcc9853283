# SPDX-License-Identifier: Apache-2.0
"""Every batch is recorded once, in order, with the wait that the script itself measured.

usage: batches.py CASE... (see CASES), first all at once, since they sleep. The script's clock and
ours stand a few microseconds apart; other processes of a shared machine may take the CPU between the
two, so a case may be run four times, then alone, and each wait must agree in one of them. A wait
that lies outside the script's fails at once.
"""
import concurrent.futures
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, check_nested, environment, equal, finish,  # noqa
                         least, need_shim, need_torch, rows, run, say, scratch, skip, spread,
                         wait_for_drain)
import dlprof_test  # noqa: E402
import stub  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
WAIT_TOLERANCE_NS = 1_000_000
LOAD_TOLERANCE_NS = 2_000_000  # collate and the fetcher's own code, above the sample's stamps
ATTEMPTS = 4
AT_ONCE = 4

# The worked example: W workers, 200 ms a load, 10 ms a step: one stall every W batches.
BLOG = {"load_s": 0.2, "step_s": 0.01}
SHORT = {"load_s": 0.06, "step_s": 0.005}

CASES = {
    "seven": dict(BLOG, workers=7, batches=84, period=7, meet=True),
    "four": dict(BLOG, workers=4, batches=48, period=4, meet=True),
    "two": dict(BLOG, workers=2, batches=24, period=2, meet=True),
    "spawn": dict(BLOG, workers=3, batches=30, period=3, start="spawn", meet=True),
    "forkserver": dict(BLOG, workers=3, batches=30, period=3, start="forkserver", meet=True),
    "iterable": dict(BLOG, workers=3, batches=30, period=3, iterable=True, meet=True),
    "persistent": dict(BLOG, workers=3, batches=30, period=3, persistent=True, epochs=2, meet=True),
    "two_loaders": dict(SHORT, workers=2, batches=12, labels=["left", "right"], validation=3,
                        epochs=2),
    "no_workers": dict(load_s=0.02, step_s=0.005, workers=0, batches=40, epochs=2, period=1),
    "close_fds": dict(load_s=0.02, step_s=0.005, workers=0, batches=20, close_fds=True),
    "big_batch": dict(load_s=0.004, step_s=0.005, workers=2, batches=30, batch_size=8),
    "jitter": dict(BLOG, workers=7, batches=84, jitter=True),
    "head_of_line": dict(load_s=0.05, step_s=0.015, workers=4, batches=80, slow_every=20,
                         slow_factor=8, prefetch=4, hol=True),
    "out_of_order": dict(SHORT, workers=4, batches=40, in_order=False, jitter=True, stub=True),
    "pin": dict(BLOG, workers=3, batches=30, period=3, pin=True, stub=True, meet=True),
    "stub_seven": dict(BLOG, workers=7, batches=84, period=7, stub=True, meet=True),
}


def record(plan):
    """Runs the script under the preload; its own log and our rows, both by begin."""
    folder = scratch()
    log, database = os.path.join(folder, "log.json"), os.path.join(folder, "run.db")
    changes = {"DLPROF_OUT": database}
    if plan.get("stub"):
        changes["TEST_STUB"] = stub.make(folder, in_order_false=plan.get("in_order") is False)
        changes["TEST_PIN"] = "1"
        if not changes["TEST_STUB"]:
            skip("no installed torch to take the DataLoader from")
    if os.environ.get("TEST_WITHOUT"):
        changes["LD_PRELOAD"] = None  # to try out this test's own side
    done = run([PYTHON, "-W", "ignore", os.path.join(HERE, "sleeper.py"), log, json.dumps(plan)],
               env=environment(**changes))
    equal(done.status, 0, "exit status", done.err[-2000:])
    equal(done.out, "trained {}\n".format(plan["batches"]), "stdout")
    with open(log) as file:
        truth = [json.loads(line) for line in file]
    check(truth and truth.pop().get("end"), "the script came to its end")
    if os.environ.get("TEST_WITHOUT"):
        return truth, [], []
    wait_for_drain(database)
    if not check(os.path.exists(database), "no database", done.err):
        finish()
    batches = rows(database, "SELECT b.*, l.load_ns AS l_load_ns, l.pid AS pid, l.collate_ns, "
                   "l.samples, l.begin_ns AS load_begin FROM batch b LEFT JOIN load l "
                   "USING (loader_id, epoch, batch) ORDER BY b.begin_ns")
    return truth, batches, rows(database, "SELECT * FROM loader ORDER BY loader_id")


def compare_identity(plan, truth, batches):
    """Each batch once, in order, under the right loader, epoch and worker."""
    if not equal(len(batches), len(truth), "number of batches"):
        return False
    labels = {}
    for own, row in zip(truth, batches):
        labels.setdefault(own["label"], row["loader_id"])
        name = "{label} epoch {epoch} batch {batch}".format(**own)
        equal(row["loader_id"], labels[own["label"]], name, "loader_id")
        equal(row["epoch"], own["epoch"], name, "epoch")
        equal(row["batch"], own["batch"], name, "ordinal")
        equal(row["worker_id"], own["worker"], name, "worker_id")
        equal(row["pid"], own["pid"], name, "pid of the load")
        equal(row["samples"] or plan.get("batch_size", 1), plan.get("batch_size", 1), name,
              "samples")
    equal(len(set(labels.values())), len(labels), "loaders are told apart", labels)
    return True


def compare_times(truth, batches, best):
    """The differences of the waits and the loads, and what is wrong with them."""
    waits = [abs(row["wait_ns"] - (own["end"] - own["begin"]))
             for own, row in zip(truth, batches)]
    begins = [abs(row["begin_ns"] - own["begin"]) for own, row in zip(truth, batches)]
    loads = [row["load_ns"] - (own["load_end"] - own["load_begin"])
             for own, row in zip(truth, batches) if row["load_ns"] is not None]
    say("  wait error, ms, median / 99 % / max:", spread(waits, 1e6),
        "; begin:", spread(begins, 1e6), "; load:", spread(loads, 1e6))
    wrong = []
    worst = least(best, enumerate(waits))
    if worst > WAIT_TOLERANCE_NS:
        wrong.append("wait differs by up to {} ns".format(worst))
    if statistics.median(loads) > LOAD_TOLERANCE_NS:
        wrong.append("load differs by {}..{} ns".format(min(loads), max(loads)))
    return wrong


def starved(batch_waits, step_s):
    """Positions of the waits that no queue explains: half a step and more."""
    limit = max(step_s * 1e9 / 2, 2_000_000)
    return [i for i, wait in enumerate(batch_waits) if wait > limit]


def gaps(positions):
    return [b - a for a, b in zip(positions, positions[1:])]


def compare_pattern(plan, truth, batches):
    """One stall every W batches, seen the same way in the script's log and in the database; and
    whether the script had its rhythm, which it loses where others use the machine."""
    wrong, lost = [], []
    for epoch in range(plan.get("epochs", 1)):
        own = [t["end"] - t["begin"] for t in truth if t["epoch"] == epoch]
        ours = [b["wait_ns"] for b in batches if b["epoch"] == epoch]
        skipped = max(plan["workers"], 1)  # the first load of each worker overlaps nothing
        stalls = starved(ours[skipped:], plan["step_s"])
        say("  epoch", epoch, "gaps between stalls:", sorted(set(gaps(stalls))), "x", len(stalls))
        if stalls != starved(own[skipped:], plan["step_s"]):
            wrong.append("stalls are not those of the script")
        off = [gap for gap in gaps(stalls) if gap != plan["period"]]
        if not stalls or len(off) * 10 > max(10, len(stalls)):
            lost.append("gaps {} are not {}".format(gaps(stalls), plan["period"]))
    return wrong, lost


def head_of_line(plan, truth):
    """From the script's log: time in each wait while a later batch had been loaded."""
    result = []
    for i, own in enumerate(truth):
        later = [t["load_end"] for t in truth[i + 1:i + 1 + plan["workers"] * plan["prefetch"]]]
        first = min(later) if later else own["end"]
        result.append(max(0, own["end"] - max(first, own["begin"])))
    return result


def compare_head_of_line(plan, truth, batches, best):
    wrong = []
    own = head_of_line(plan, truth)
    ours = [b["hol_ns"] or 0 for b in batches]
    # The blocked part only: what is queued behind costs its own receive time too.
    differences = [abs(a - b) for a, b in zip(own, ours)]
    say("  head-of-line ms, script", sum(own) / 1e6, "database", sum(ours) / 1e6,
        "error median / 99 % / max:", spread(differences, 1e6))
    slow = [i for i, o in enumerate(own) if o > 50_000_000]
    if len(slow) < 3:
        wrong.append("the script saw no head-of-line blocking itself")
    worst = least(best, [(i, ours[i] - own[i]) for i in set(slow).union(best)])
    if worst > 10_000_000:
        wrong.append("head of line differs by up to {} ns: {}".format(worst, best))
    return wrong


def check_loaders(plan, loaders):
    counts = sorted(loader["workers"] for loader in loaders)
    expected = [plan["workers"]] * len(plan.get("labels", ["train"]))
    expected += [1] if plan.get("validation") else []
    equal(counts, sorted(expected), "workers of each loader")
    for loader in loaders:
        equal(loader["batch_size"], plan.get("batch_size", 1), "batch_size")
        equal(loader["persistent"], int(bool(plan.get("persistent"))), "persistent")
        equal(loader["in_order"], int(plan.get("in_order", True)), "in_order")
        if "prefetch" in plan:
            equal(loader["prefetch_factor"], plan["prefetch"], "prefetch_factor")
        check("DataLoader" in (loader["kind"] or ""), "kind", loader["kind"])
        equal("(iterable)" in loader["kind"], bool(plan.get("iterable")), "iterable", loader["kind"])


def check_columns(plan, batches):
    """What must hold between the columns of each row."""
    for row in batches:
        name = "epoch {epoch} batch {batch}".format(**row)
        if row["step_ns"] is not None and len(plan.get("labels", ["train"])) == 1:
            equal(row["compute_ns"], row["step_ns"] - row["wait_ns"], name, "compute")
        elif row["step_ns"] is not None:  # the waits for the other loaders are no compute either
            check(plan["step_s"] * 1e9 / 2 < row["compute_ns"] <= row["step_ns"] - row["wait_ns"],
                  name, "compute", row["compute_ns"])
        if row["receive_ns"] is not None:
            check(0 <= row["receive_ns"] <= row["wait_ns"], name, "receive", row["receive_ns"])
        check((row["hol_ns"] or 0) <= row["wait_ns"], name, "head-of-line", row["hol_ns"])
        if plan["workers"]:
            check(row["head_ready"] is not None, name, "head_ready is not known")
            check(row["qdepth"] is None or row["qdepth"] >= (row["head_ready"] or 0), name,
                  "qdepth", row["qdepth"])


def check_queue(plan, batches):
    """What the drain says of the queue is what the rows of all loads say, whoever was read first."""
    for row in batches if plan["workers"] else ():
        begin, end = row["begin_ns"], row["begin_ns"] + row["wait_ns"]
        loaded = row["load_begin"] + row["load_ns"]
        later = [other["load_begin"] + other["load_ns"] for other in batches
                 if (other["loader_id"], other["epoch"]) == (row["loader_id"], row["epoch"])
                 and other["batch"] > row["batch"]]
        held = min([loaded, end]) - max(min(later, default=end), begin)
        expected = {"head_ready": int(loaded <= begin), "ready_ns": max(0, begin - loaded),
                    "qdepth": sum(other <= begin for other in later + [loaded]),
                    "hol_ns": max(0, held) if loaded > begin and plan.get("in_order", True) else 0}
        equal({key: row[key] for key in expected}, expected, "epoch", row["epoch"], "batch",
              row["batch"])


def run_case(name, plan, recorded):
    best, best_held = {}, {}
    for attempt in range(ATTEMPTS):
        truth, batches, loaders = record(plan) if attempt else recorded
        say(name, "attempt", attempt + 1, ":", len(truth), "batches")
        if os.environ.get("TEST_WITHOUT"):
            batches = [dict(t, wait_ns=t["end"] - t["begin"], begin_ns=t["begin"], hol_ns=h,
                            load_ns=t["load_end"] - t["load_begin"])
                       for t, h in zip(truth, head_of_line(dict(plan, prefetch=2), truth))]
        else:
            check_loaders(plan, loaders)
            if not compare_identity(plan, truth, batches):
                return
            check_nested(name, truth, batches)
            check_columns(plan, batches)
            check_queue(plan, batches)
        wrong, lost = compare_times(truth, batches, best), []
        if "period" in plan:
            more, lost = compare_pattern(plan, truth, batches)
            wrong += more
        if plan.get("hol"):
            wrong += compare_head_of_line(plan, truth, batches, best_held)
        if not wrong and not lost or dlprof_test.failure_count():
            break
        say("  attempt failed:", wrong + lost)
    if lost:  # in each attempt; ours are the script's
        say("  the script had no rhythm, the machine is too busy:", lost)
    check(not wrong, name, wrong)


def main():
    need_torch()
    if not os.environ.get("TEST_WITHOUT"):
        need_shim()
    names = sys.argv[1:] or list(CASES)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        recorded = list(pool.map(lambda name: record(CASES[name]), names))
    for name, first in zip(names, recorded):
        run_case(name, CASES[name], first)
    finish()


main()
