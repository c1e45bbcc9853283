# SPDX-License-Identifier: Apache-2.0
"""`dlprof tune` proves for trainings with known gains which settings are faster, and no other gain."""
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

# Loads and steps that sleep; `shared`: samples a second for all workers together, as with a server's limit.
PROGRAM = """
import concurrent.futures, fcntl, functools, hashlib, os, socket, sys, threading, time
from torch.utils.data import DataLoader

kind, load_s, step_s, workers = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
server = socket.socket(socket.AF_UNIX)
busy = bytes(3 << 20)

@functools.lru_cache()
def pool():
    return concurrent.futures.ThreadPoolExecutor(6)

def serve():
    until = 0
    while True:
        peer = server.accept()[0]
        until = (until or time.monotonic()) + load_s / 4
        time.sleep(max(0, until - time.monotonic()))
        peer.sendall(b"sample")
        peer.close()

def take_turns(s):
    with open(__file__ + ".next" + str(os.getppid()), "a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        until = float(file.read() or time.monotonic()) + s
        file.truncate(0)
        file.write(str(until))
        file.flush()
    time.sleep(max(0, until - time.monotonic()))

class Dataset:
    def __len__(self):
        return 4 * 4000
    def __getitem__(self, i):
        s = load_s / 4
        if kind.startswith("head") and i % 20 == 0:
            s *= 40
        if kind == "shared":
            take_turns(s)
        elif kind == "lock":
            with open(__file__ + ".lock", "w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                time.sleep(s)
        elif kind == "server":
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(__file__ + ".socket")
                client.recv(100)
        elif kind == "threads":
            import cv2
            list(pool().map(hashlib.sha256, [busy] * cv2.getNumThreads()))
        else:
            time.sleep(s)
        if kind == "dies" and os.environ.get("DLPROF_SET"):
            os.kill(os.getpid(), 9)
        return i

if kind == "none":
    time.sleep(0.2)
    sys.exit("no loader here")
if kind == "server":
    if os.path.exists(__file__ + ".socket"):
        os.unlink(__file__ + ".socket")
    server.bind(__file__ + ".socket")
    server.listen(100)
    threading.Thread(target=serve, daemon=True).start()
loader = DataLoader(Dataset(), batch_size=4,
                    num_workers=workers)
if kind == "head-alone":
    loader.in_order = True
if kind.startswith("head"):
    for batch in DataLoader(range(8), num_workers=1):
        pass
if kind == "moved" and os.environ.get("DLPROF_SET"):
    loader = DataLoader(Dataset(), batch_size=4, num_workers=workers)
for batch in loader:
    time.sleep(step_s)
"""
CV2 = """
threads = 6
def getNumThreads():
    return threads
def setNumThreads(count):
    global threads
    threads = count
"""


def line_of(text):
    return PROGRAM.lstrip("\n").split("\n").index(text) + 1


PLACE = "train.py:{}".format(line_of("loader = DataLoader(Dataset(), batch_size=4,"))


class Tuned:
    def __init__(self, kind, load_s, step_s, workers, *options, **changes):
        self.top = t.scratch()
        self.program = os.path.join(self.top, "train.py")
        with open(self.program, "w") as file:
            file.write(PROGRAM.lstrip("\n"))
        with open(os.path.join(self.top, "cv2.py"), "w") as file:
            file.write(CV2)
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
    """Proves the number of workers that is needed, load / step."""
    tuned = Tuned("sleep", 0.06, 0.02, 1).run()
    t.equal(tuned.status, 0, tuned.err)
    found = tuned.json
    t.check(found["best"] in ("workers=3", "workers=4", "workers=6"), "needs 3", found["best"])
    best = [one for one in found["tried"] if "{}={}".format(one["setting"], one["value"]) == found["best"]][0]
    t.check(0.6 <= best["gain"] <= 2.5 and best["ci95"][0] > 0 and best["rounds"] >= 3, "gain", best)
    t.equal(best["samples"], "same_order", "samples")
    t.equal(best["code"], "DataLoader(..., num_workers={})".format(best["value"]), "code")
    t.equal(found["place"], PLACE, "place")
    said = re.search(r"to try, in (\d+) more runs of \d+ batches \(about [^)]+\), or up to (\d+) ", tuned.err)
    if t.check(said, "said beforehand", tuned.err):
        # The first run is behind us, and a setting without any gain leaves before the last round.
        t.check(found["runs"] - 1 <= int(said.group(2)), "runs", found["runs"], tuned.err)
        t.equal(int(said.group(1)), 3 * (len(found["tried"]) + 1) + 1, "the fewest that prove a gain", tuned.err)
    t.check(re.search(r"1 round in [^,]+, .*workers=\d+ [\d.]+x so far; \d+ more runs at most, ", tuned.err),
            "said meanwhile", tuned.err)
    # The trials leave databases that `compare` can read, and no processes.
    said, _ = compared(tuned, best)
    t.equal((said["result"], said["samples"]), ("faster", "same_order"), "compare", said["changes"])
    left = [line for line in os.popen("ps -eo args").read().splitlines() if tuned.program in line]
    t.equal(left, [], "processes left")


def compared(tuned, one):
    """Compares the first round's base run with a trial's run by `dlprof-report compare`."""
    runs = [os.path.join(tuned.folder, name + "-1.db") for name in (
        "base", "{}={}".format(one["setting"], one["value"]))]
    return json.loads(t.report("compare", "--json", *runs).out), t.report("compare", *runs).out


def check_shared(kind="shared"):
    """Loads that all wait for the same gain nothing by more workers, and tune says so."""
    # Predictions see no limit within two workers. Of 100 tunes some 2 prove a gain that is none (unit test tune).
    for _ in range(2):
        tuned = Tuned(kind, 0.024, 0.006, 2, "--rounds", "3").run()
        if not tuned.json["best"]:
            break
        t.say(kind, "proved", tuned.json["best"])
    t.equal(tuned.json["best"], None, kind, tuned.err)
    more = [one for one in tuned.tried("workers") if int(one["value"]) >= 4]
    t.check(more, kind, "more workers were tried", tuned.json["not_tried"])
    for one in more:
        words = "2 -> {} workers, and a load takes ".format(one["value"])
        if not t.check(one["shared"] and one["shared"].startswith(words) and
                       "share what they wait for" in one["shared"], kind, one["shared"]):
            continue
        found, text = compared(tuned, one)
        t.equal(found["workers_share_limit"], True, kind, "compare")
        t.check("Shared " + one["shared"] in " ".join(text.split()), kind, "compare", text)


def check_lock():
    check_shared("lock")


def check_server():
    check_shared("server")


def check_threads():
    """For workers with more threads than cores, one thread each is tried and proven."""
    # Trials also have the settings that the caller made for all runs, but are not named by these.
    tuned = Tuned("threads", 0.02, 0.005, 2, "--rounds", "3", DLPROF_SET="prefetch_factor=3").run()
    t.equal(tuned.json["best"], "threads=1", tuned.json["not_predicted"], tuned.json["not_tried"])
    for one in tuned.tried("threads"):
        t.equal((one["predicted"]["gain"], one["samples"]), (None, "same"), "threads", one)
    database = os.path.join(tuned.folder, "threads=1-1.db")
    t.equal(t.rows(database, "SELECT value FROM meta WHERE key = 'set'"),
            [{"value": "prefetch_factor=3;threads=1"}], sorted(os.listdir(tuned.folder)))
    t.equal(t.rows(database, "SELECT prefetch_factor FROM loader"), [{"prefetch_factor": 3}], "for all runs")


def check_order():
    """in_order=False is tried only with a loader that knows it, whatever another loader lacks."""
    has_order = t.run([t.PYTHON, "-c", "import inspect, torch.utils.data as data; "
                       "print('in_order' in str(inspect.signature(data.DataLoader)))"],
                      env=t.environment(preload=False)).out.strip() == "True"
    for kind, loader_has in (("head", has_order), ("head-alone", True)):
        tuned = Tuned(kind, 0.02, 0.012, 4, "--max-time", "1").run()
        not_tried = [one["why"] for one in tuned.json["not_tried"] if one["setting"] == "in_order"]
        t.equal((len(tuned.tried("in_order")), not_tried), (1, []) if loader_has else (0, ["no_setting"]), kind,
                has_order, tuned.json)


def check_unset():
    """A setting that the training does not take is not proven."""
    tuned = Tuned("moved", 0.06, 0.02, 1).run()
    t.equal([one["verdict"] for one in tuned.tried("workers")], ["not_set"] * len(tuned.tried("workers")))
    t.check(tuned.json["tried"] and tuned.json["best"] is None, "unset", tuned.json)


def check_best():
    """For a training that does not wait nothing is tried."""
    tuned = Tuned("sleep", 0.004, 0.02, 2).run()
    t.equal((tuned.status, tuned.json["best"]), (0, None), "the best that there is", tuned.err)
    t.equal(tuned.json["tried"], [], "nothing is worth a trial")


def check_died():
    """A trial whose run dies is reported with the reason."""
    tuned = Tuned("dies", 0.03, 0.01, 1).run()
    t.equal((tuned.status, tuned.json["best"]), (3, None), "all died", tuned.err)
    for one in tuned.json["tried"]:
        t.equal(one["verdict"], "died", one)
        t.check("killed by signal: Killed" in one["died"] or "exited unexpectedly" in one["died"], "why",
                one["died"])


# "resumes": goes on where the run before it ended. "caches": what the first run makes, later ones only read.
RESUMES = """
import os, sys, time
begin = 0
if sys.argv[1] == "resumes" and os.path.exists("kept"):
    begin = int(open("kept").read())
elif sys.argv[1] == "caches":
    if not os.path.exists("cache"):
        open("cache", "w").close()
    open("cache").read()
from torch.utils.data import DataLoader
class Dataset:
    def __len__(self):
        return 100 - begin
    def __getitem__(self, i):
        time.sleep(0.02)
        return i
for count, batch in enumerate(DataLoader(Dataset(), num_workers=1)):
    time.sleep(0.002)
    with open("kept.part", "w") as file:
        file.write(str(begin + count + 1))
    os.rename("kept.part", "kept")
"""


def check_resumed():
    """A training that goes on where the run before it ended is told from one that begins anew."""
    for kind in ("resumes", "caches"):
        folder = t.scratch()
        program = os.path.join(folder, "train.py")
        with open(program, "w") as file:
            file.write(RESUMES)
        done = t.run([t.DLPROF, "tune", "--json", "-o", os.path.join(folder, "out"), "--batches", "40", "--rounds",
                      "3", t.PYTHON, program, kind], env=t.environment(preload=False), cwd=folder, timeout=200)
        found = json.loads(done.out)
        if kind == "resumes":
            t.equal((done.status, found["best"], found["resumed"]), (3, None, "kept"), done.err)
            t.check("the run base-1 read what an earlier one wrote (kept), and writes it again" in done.err,
                    "said at once", done.err)
            t.equal(found["ended_early"], "a run without any setting took no batch; earlier runs resumed from kept")
        else:
            t.equal((done.status, found["resumed"]), (0, None), kind, done.err)


def check_rank():
    """In a job of several ranks the screen names the one that is measured, whole."""
    tuned = Tuned("sleep", 0.04, 0.01, 1, "--max-time", "1", RANK="1", WORLD_SIZE="2")
    text = t.run(tuned.argv, env=tuned.env).out
    t.check("Rank 1 of 2 waits most: gains are predicted and measured for it" in " ".join(text.split()), text)


def check_slow():
    """--max-time also ends a first run that takes longer, and says how much time is needed."""
    tuned = Tuned("sleep", 0.6, 0.1, 1, "--max-time", "20")
    begin = time.monotonic()
    tuned.run()
    t.equal(tuned.status, 3, tuned.err)
    t.check(time.monotonic() - begin < 60, "it went on for", time.monotonic() - begin)
    t.check("--max-time leaves no room" in tuned.json["ended_early"], tuned.json)


def check_refusals():
    tuned = Tuned("none", 0, 0, 0).run()
    t.check(tuned.status == 2 and "no loader here" in tuned.err, "no loader", tuned.err)
    for words, option in (("--rounds: 3 to 9", ["--rounds", "2"]), ("--batches: at least 20", ["--batches", "5"])):
        done = t.run([t.DLPROF, "tune", *option, "true"], env=t.environment(preload=False))
        t.check(done.status == 2 and words in done.err, option, done.err)
    script = os.path.join(t.scratch(), "train.py")
    open(script, "w").close()
    for status, words, command, changes in (
            (127, "cannot run 'no-such-program': No such file or directory", ["no-such-program"], {}),
            (126, "cannot run '{0}': Permission denied; did you mean: dlprof tune python {0}".format(script), [script], {}),
            (2, "DLPROF_SET: 'wokers' is no setting; did you mean workers?", ["true"], {"DLPROF_SET": "wokers=2"}),
            (2, "the first run, as it is, ended, and no batch of a loader was seen in it (dlprof doctor says why); ",
             ["true"], {}),
            (2, "the first run, as it is, ended with status 1; ", ["false"], {})):
        done = t.run([t.DLPROF, "tune", "-o", os.path.join(t.scratch(), "out")] + command,
                     env=t.environment(preload=False, **changes))
        t.equal((done.status, done.out, done.err.count("\n")), (status, "", 1), command, done.err)
        t.check(words in done.err, command, "does not say", words, done.err)
    done = t.run([t.DLPROF, "tune", "-o", t.scratch(), "true"], env=t.environment(preload=False))
    t.check(done.status == 2 and "name another with -o" in done.err, "the folder is there", done.err)


def check_tfdata():
    """For loaders of other frameworks tune says that it can try nothing, and where to read what to change."""
    folder = t.scratch()
    out = os.path.join(folder, "out")
    program = os.path.join(t.ROOT, "tests", "e2e", "frameworks", "tf_data.py")
    done = t.run([t.DLPROF, "tune", "-o", out, t.PYTHON, program],
                 env=t.environment(preload=False, PYTHONPATH=os.path.join(t.ROOT, "tests", "lib", "frameworks")))
    t.equal(done.status, 2, done.err)
    t.check("not one of tf.data: dlprof-report {}/base-0.db says".format(out) in done.err, done.err)


def check_interrupt():
    """After Ctrl-C tune prints what it knows, and leaves no processes."""
    tuned = Tuned("sleep", 0.04, 0.01, 1)
    # The training runs in a session of its own, as torchrun gives to each rank.
    tuned.argv[tuned.argv.index(t.PYTHON):0] = [
        t.PYTHON, "-c", "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:], start_new_session=True))"]
    process = subprocess.Popen(tuned.argv, env=tuned.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               universal_newlines=True)
    end = time.monotonic() + 60
    while time.monotonic() < end and not os.path.exists(os.path.join(tuned.folder, "base-1.db")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    t.equal(process.returncode, 3, "status", out, err)
    t.check("NOTHING PROVEN" in out and "The search ended early: it was interrupted." in out, "said", out)
    count = t.rows(os.path.join(tuned.folder, "base-1.db"), "SELECT COUNT(*) AS n FROM batch")[0]["n"]
    t.check(count < 40, "the run went on to its end,", count, "batches")
    left = [line for line in os.popen("ps -eo args").read().splitlines() if tuned.program in line]
    t.equal(left, [], "processes left")


def check_time():
    """A tune that takes too long is not begun, and the time that tune then names is enough, for fewer batches."""
    tuned = Tuned("sleep", 0.04, 0.01, 1, "--max-time", "1")
    tuned.argv.remove("--batches")
    tuned.argv.remove("40")
    tuned.run()
    t.equal(tuned.status, 3, "no time for a round")
    enough = re.fullmatch("--max-time leaves no room for the 3 rounds that can prove a gain; --max-time ([0-9]+) has it",
                          tuned.json["ended_early"])
    t.equal(tuned.err.count("\n"), 1, "only what is to be tried", tuned.err)
    if not t.check(enough, "said", tuned.json):
        return
    shutil.rmtree(tuned.folder)
    # The machine may be busier by then.
    tuned.argv[tuned.argv.index("--max-time") + 1] = str(int(1.3 * int(enough.group(1))))
    tuned.run()
    t.equal(tuned.status, 0, tuned.json["ended_early"])
    t.check(tuned.json["rounds"] >= 3, "rounds", tuned.json)
    # In 20 s a run would have 500 batches.
    t.check(tuned.json["batches"] < 300, "batches", tuned.json["batches"])


# Tests whose loads and steps sleep, so that several can run at once.
ASLEEP = (check_shared, check_lock, check_server, check_need, check_unset, check_died, check_interrupt,
          check_best, check_order, check_time, check_tfdata, check_refusals, check_resumed, check_slow, check_rank)
AT_ONCE = 3


def timed(check):
    begin = time.monotonic()
    check()
    t.say("{}: {:.1f} s".format(check.__name__, time.monotonic() - begin))


def main():
    t.need_shim()
    t.need_torch()
    t.use_stub()
    wanted = ["check_" + name for name in sys.argv[1:]]
    if not wanted or check_threads.__name__ in wanted:
        timed(check_threads)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(timed, [one for one in ASLEEP if not wanted or one.__name__ in wanted]))
    t.finish()


main()
