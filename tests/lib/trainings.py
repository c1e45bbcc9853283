# SPDX-License-Identifier: Apache-2.0
"""Runs plans of e2e/sleeper.py, recorded or not, and evaluates the script's own log."""
import json
import os
import statistics

import dlprof_test as t

E2E = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e")


class Training:
    """A finished training: the script's log, and the database if it was recorded."""

    def __init__(self, folder, name, pid):
        self.name = name
        self.database = os.path.join(folder, "{}.db".format(pid))
        with open(os.path.join(folder, name + ".json")) as file:
            self.truth = [json.loads(line) for line in file]
        last = self.truth.pop() if self.truth else {}
        self.end = last.get("at")
        t.check(last.get("end"), name, "came to its end")

    def report(self, *options):
        """Returns dlprof-report's JSON."""
        if not t.wait_for_drain(self.database):
            return None
        done = t.report("--json", *options, self.database)
        if not t.equal(done.status, 0, self.name, "report", done.err):
            return None
        return json.loads(done.out)


def run(jobs, at_once=1, preload=True, python=None, neighbours=()):
    """Runs trainings [(name, plan)] and yields each when it ends.

    `neighbours`: nice values of programs that are busy all the time beside the trainings. "cores" of
    the first plan binds all programs to so many cores before they start, as taskset does: the report
    would tell of a program that binds itself."""
    folder = t.scratch()
    env = t.environment(preload, DLPROF_OUT=os.path.join(folder, "%p.db"))
    cores = sorted(os.sched_getaffinity(0))[:jobs[0][1].get("cores")]
    done = t.run([python or t.PYTHON, "-W", "ignore", os.path.join(E2E, "crew.py"), folder,
                  str(at_once)] + [str(nice) for nice in neighbours], env=env,
                 timeout=60 + 60 * len(jobs), text_in=json.dumps(jobs),
                 preexec_fn=lambda: os.sched_setaffinity(0, cores))
    t.equal(done.status, 0, "exit status", done.err[-2000:])
    lines = [line.split() for line in done.out.splitlines()]
    t.equal(sorted(line[0] for line in lines), sorted(name for name, _ in jobs), "trainings")
    for name, pid, status in lines:
        if t.equal(status, "0", name, "exit status", done.err[-2000:]):
            yield Training(folder, name, pid)


def steady(plan, truth, skipped):
    """Returns (wait, compute, was ready) in seconds of all batches but the first of each epoch."""
    result = []
    for line, following in zip(truth, truth[1:]):
        if line["batch"] < skipped or following["epoch"] != line["epoch"]:
            continue
        is_ready = plan["workers"] > 0 and line["load_end"] <= line["begin"]
        result.append(((line["end"] - line["begin"]) / 1e9,
                       (following["begin"] - line["end"]) / 1e9, is_ready))
    return result


def stall_ratio(truth):
    """Returns the waits' share of all time from the first batch on, by the script's stamps alone.

    The last step has no stamp, and is taken to be as long as the others."""
    waited = sum(line["end"] - line["begin"] + line.get("between", 0) for line in truth[1:])
    steps = [after["begin"] - line["end"] for line, after in zip(truth, truth[1:])
             if line["epoch"] == after["epoch"]]
    total = truth[-1]["end"] - truth[0]["end"] + statistics.median(steps)
    return waited / total


def late(plan, truth):
    """Returns by how much steps, loads and epochs were later than planned, as a share of the time.

    Steps and loads only sleep, so other programs on the machine make them late."""
    total = truth[-1]["end"] - truth[0]["begin"]
    step_ns = starts_ns = 0
    for line, following in zip(truth, truth[1:]):
        if following["epoch"] != line["epoch"]:
            starts_ns += following["load_begin"] - line["end"] - plan.get("start_s", 0) * 1e9
            continue
        meant = plan["step_s"]
        if plan.get("pause_every") and (line["batch"] + 1) % plan["pause_every"] == 0:
            meant += plan["pause_s"]
        since = max(line["begin"], line["load_end"]) if plan.get("paced") else line["end"]
        step_ns += max(0, following["begin"] - since - meant * 1e9)
    loads = sum(line["load_s"] for line in truth)
    load_s = sum((line["load_end"] - line["load_begin"]) / 1e9 for line in truth) - loads
    return max(step_ns / total, starts_ns / total, load_s / loads, idle_ns(plan, truth) / loads / 1e9)


def idle_ns(plan, truth):
    """Returns how long workers took to begin the loads that they were sent, in nanoseconds."""
    result, before = 0, {}
    ahead = plan["workers"] * plan.get("prefetch", 2)
    for at, line in enumerate(truth) if plan["workers"] else ():
        if line["batch"] >= ahead:  # sent when batch number `batch - ahead` was taken
            result += line["load_begin"] - max(truth[at - ahead]["end"], before[line["pid"]])
        before[line["pid"]] = line["load_end"]
    return result


def rate(plan, truth, skipped):
    """Returns the batches per second."""
    batches = steady(plan, truth, skipped)
    return len(batches) / sum(wait + compute for wait, compute, _ in batches)
