# SPDX-License-Identifier: Apache-2.0
"""`dlprof tune`: of trainings whose truth is planted, it proves what is faster and nothing else."""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

# Loads and steps that sleep; `shared`: so many samples a second for all, as behind a server's limit.
PROGRAM = """
import fcntl, os, sys, time
from torch.utils.data import DataLoader

kind, load_s, step_s, workers = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])

class Dataset:
    def __len__(self):
        return 4 * 4000
    def __getitem__(self, i):
        s = load_s / 4
        if kind == "head" and i % 20 == 0:
            s *= 40
        if kind == "shared":
            with open(__file__ + ".next", "a+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                until = max(time.monotonic(), float(file.read() or 0)) + s
                file.truncate(0)
                file.write(str(until))
                file.flush()
            time.sleep(max(0, until - time.monotonic()))
        else:
            time.sleep(s)
        if kind == "dies" and os.environ.get("DLPROF_SET"):
            os.kill(os.getpid(), 9)
        return i

if kind == "none":
    time.sleep(0.2)
    sys.exit("no loader here")
for batch in DataLoader(Dataset(), batch_size=4,
                        num_workers=workers):
    time.sleep(step_s)
"""
PLACE = "train.py:31"


class Tuned:
    def __init__(self, kind, load_s, step_s, workers, *options, **changes):
        self.top = t.scratch()
        self.program = os.path.join(self.top, "train.py")
        with open(self.program, "w") as file:
            file.write(PROGRAM.lstrip("\n"))
        self.folder = os.path.join(self.top, "out")
        self.argv = [t.DLPROF, "tune", "-o", self.folder, "--batches", "40", *options, t.PYTHON,
                     self.program, kind, str(load_s), str(step_s), str(workers)]
        self.env = t.environment(preload=False, **changes)

    def run(self):
        begin = time.monotonic()
        done = t.run(self.argv[:2] + ["--json"] + self.argv[2:], env=self.env, timeout=400)
        self.status, self.err = done.status, done.err
        self.json = json.loads(done.out) if done.out else None
        if self.json:
            t.say(" ".join(self.argv[-4:]), "{:.0f} s:".format(time.monotonic() - begin), self.json["best"],
                  [(one["setting"], one["value"], one["verdict"], one["gain"], one["ci95"], "predicted",
                    one["predicted"]["gain"]) for one in self.json["tried"]])
        return self

    def tried(self, setting):
        return [one for one in self.json["tried"] if one["setting"] == setting]


def check_need():
    """The workers that are needed are known: load / step."""
    tuned = Tuned("sleep", 0.06, 0.02, 1).run()
    t.equal(tuned.status, 0, tuned.err)
    found = tuned.json
    t.check(found["best"] in ("workers=3", "workers=4", "workers=6"), "needs 3", found["best"])
    best = [one for one in found["tried"] if "{}={}".format(one["setting"], one["value"]) == found["best"]][0]
    t.check(0.6 <= best["gain"] <= 2.5 and best["ci95"][0] > 0 and best["rounds"] >= 3, "gain", best)
    t.equal(best["samples"], "same_order", "samples")
    t.equal(best["code"], "DataLoader(..., num_workers={})".format(best["value"]), "code")
    t.equal(found["place"], PLACE, "place")
    t.check(" to try, " in tuned.err and " runs of " in tuned.err, "said beforehand", tuned.err)
    # The trials are databases that compare reads, with nobody left.
    compared = json.loads(t.report("compare", "--json", os.path.join(tuned.folder, "base-1.db"), os.path.join(
        tuned.folder, found["best"] + "-1.db")).out)
    t.equal((compared["result"], compared["samples"]), ("faster", "same_order"), "compare", compared["changes"])
    left = [line for line in os.popen("ps -eo args").read().splitlines() if tuned.program in line]
    t.equal(left, [], "processes left")


def check_shared():
    """What waits for one and the same gains nothing by more workers."""
    tuned = Tuned("shared", 0.024, 0.006, 4).run()
    t.equal(tuned.json["best"], None, "a shared limit", tuned.err)


def check_best():
    """A training that does not wait."""
    tuned = Tuned("sleep", 0.004, 0.02, 2).run()
    t.equal((tuned.status, tuned.json["best"]), (0, None), "the best that there is", tuned.err)
    t.equal(tuned.json["tried"], [], "nothing is worth a trial")


def check_died():
    """A run that dies is a result, with its reason."""
    tuned = Tuned("dies", 0.03, 0.01, 1).run()
    t.equal((tuned.status, tuned.json["best"]), (3, None), "all died", tuned.err)
    for one in tuned.json["tried"]:
        t.equal(one["verdict"], "died", one)
        t.check("killed by signal: Killed" in one["died"] or "exited unexpectedly" in one["died"], "why",
                one["died"])


def check_refusals():
    tuned = Tuned("none", 0, 0, 0).run()
    t.check(tuned.status == 2 and "no loader here" in tuned.err, "no loader", tuned.err)
    for words, option in (("--rounds: 3 to 9", ["--rounds", "2"]), ("--batches: at least 20", ["--batches", "5"])):
        done = t.run([t.DLPROF, "tune", *option, "true"], env=t.environment(preload=False))
        t.check(done.status == 2 and words in done.err, option, done.err)
    done = t.run([t.DLPROF, "tune", "-o", t.scratch(), "true"], env=t.environment(preload=False))
    t.check(done.status == 2 and "name another with -o" in done.err, "the folder is there", done.err)


def check_interrupt():
    """Ctrl-C prints what is known, and leaves nobody behind."""
    tuned = Tuned("sleep", 0.04, 0.01, 1)
    process = subprocess.Popen(tuned.argv, env=tuned.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               universal_newlines=True)
    end = time.monotonic() + 60
    while time.monotonic() < end and not os.path.exists(os.path.join(tuned.folder, "base-1.db")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    t.equal(process.returncode, 3, "status", out, err)
    t.check("NOTHING PROVEN" in out and "It ended early: it was interrupted." in out, "said", out)
    left = [line for line in os.popen("ps -eo args").read().splitlines() if tuned.program in line]
    t.equal(left, [], "processes left")


def check_time():
    tuned = Tuned("sleep", 0.04, 0.01, 1, "--max-time", "1").run()
    t.equal(tuned.status, 3, "no time for a round")
    t.check("--max-time" in tuned.json["ended_early"], "said", tuned.json)


def main():
    t.need_shim()
    t.need_torch()
    t.use_stub()
    wanted = sys.argv[1:]
    for check in (check_refusals, check_time, check_interrupt, check_best, check_died, check_shared,
                  check_need):
        if not wanted or check.__name__[len("check_"):] in wanted:
            begin = time.monotonic()
            check()
            t.say("{}: {:.1f} s".format(check.__name__, time.monotonic() - begin))
    t.finish()


main()
