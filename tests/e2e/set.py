# SPDX-License-Identifier: Apache-2.0
"""`dlprof run --set` and `--stop-after`: loaders get what is asked for, what was done is known
everywhere, and a program ends between two batches with nothing of its own run."""
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

PROGRAM = """
import atexit, os, signal, sys, time
from torch.utils.data import DataLoader

class Dataset:
    def __len__(self):
        return int(os.environ.get("SAMPLES", 240))
    def __getitem__(self, i):
        time.sleep(0.001)
        return i

def leave(*why):
    with open(os.path.join(sys.argv[1], "ran"), "a") as file:
        file.write(repr(why))

atexit.register(leave, "atexit")
signal.signal(signal.SIGTERM, lambda *why: (leave("SIGTERM"), os._exit(1)))
first = DataLoader(Dataset(), batch_size=4, num_workers=1)
second = DataLoader(Dataset(), batch_size=4,
                    num_workers=int(sys.argv[2]))
try:
    count = 0
    for loader in (first, second) * int(os.environ.get("EPOCHS", 1)):
        for batch in loader:
            count += 1
            if count == 3:
                with open(os.path.join(sys.argv[1], "model.pt"), "wb") as file:
                    file.write(bytes(3 << 20))
                with open(os.path.join(sys.argv[1], "small.pt"), "wb") as file:
                    file.write(bytes(3 << 10))
            time.sleep(0.002)
    print("not flushed", count, end="")
    leave("end")
finally:
    leave("finally")
"""
FIRST, SECOND = "train.py:17", "train.py:18"


def dlprof(folder, *words, workers=2, **changes):
    """dlprof run of these options. Its result, and the database."""
    database = os.path.join(folder, "run{}.db".format(len(os.listdir(folder))))
    program = os.path.join(folder, "train.py")
    if not os.path.exists(program):
        with open(program, "w") as file:
            file.write(PROGRAM.lstrip("\n"))
    environment = t.environment(preload=False, DLPROF_QUIET=None, **changes)
    done = t.run([t.DLPROF, "run", "-o", database] + list(words) +
                 [t.PYTHON, program, folder, str(workers)], env=environment)
    return done, database


def values(database, query):
    return [tuple(row.values()) for row in t.rows(database, query)]


def settings(database):
    return values(database, "SELECT workers, prefetch_factor, persistent FROM loader ORDER BY loader_id")


def asks_accelerator():
    """Whether a loader pins for any device, or only for CUDA's, as PyTorch 2.6's and older ones do."""
    done = t.run([t.PYTHON, "-c", "import inspect, torch.utils.data.dataloader as module\n"
                  "print('torch.accelerator.is' in inspect.getsource(module))"], env=t.environment(False))
    return done.out == "True\n"


def judged(database):
    return json.loads(t.report("--json", database).out)


def check_refusals(folder):
    for text, words in (
            ("worker=2", "'worker' is no setting; did you mean workers? There are workers, prefetch_factor, "
                         "persistent_workers, in_order, pin_memory, context, sharing, threads"),
            ("speed=2", "'speed' is no setting. There are"),
            ("private_threadpool_size=8", "'private_threadpool_size' is a part of tf.data's graph, which only its "
                                          "program can set: dataset.with_options() of options.threading"),
            ("workers=2,num_parallel_calls=4", "set: map(..., num_parallel_calls=N)"),
            ("workers", "'workers': workers takes 0 to 1024"),
            ("workers=", "workers takes 0 to 1024"),
            ("workers=-1", "workers takes 0 to 1024"),
            ("workers=2000", "workers takes 0 to 1024"),
            ("workers=2,in_order=maybe", "'in_order=maybe': in_order takes true or false"),
            ("context=thread", "context takes fork, spawn or forkserver"),
            ("train.py:workers=2", "a place is that of one loader, as train.py:16:workers=8"),
            ("train.py:4:sharing=file_system", "sharing is of the whole program and takes no place"),
            ("", "'' is no setting"),
            ("workers=2,workers=3", "workers is to have two values at once"),
            ("t.py:4:workers=2;t.py:4:num_workers=3", "workers is to have two values at once"),
            ("workers=0,prefetch_factor=4", "prefetch_factor needs workers, and workers=0 wants none"),
            ("workers=0,persistent_workers=true", "persistent_workers needs workers"),
            (",".join(["workers=1"] * 33), "more than 32 settings")):
        done, database = dlprof(folder, "--set", text)
        t.equal((done.status, done.out, done.err.count("\n")), (2, "", 1), text, done.err)
        t.check("--set: " in done.err and words in done.err, text, "does not say", words, done.err)
        t.check(not os.path.exists(database), text, "was run")
    for number, words in (("0", "a number of batches from 1 to 999999999999"), ("-1", "'-1' is not a whole number"),
                          ("1000000000000", "a number of batches from 1 to 999999999999")):
        done, database = dlprof(folder, "--stop-after", number)
        t.equal((done.status, done.out, done.err.count("\n")), (2, "", 1), number, done.err)
        t.check("--stop-after: " + words in done.err, number, done.err)


def check_set(folder):
    """All loaders, or one by its place; in the database, on the screen, in JSON."""
    done, database = dlprof(folder, "--set", "workers=3,prefetch_factor=4", "--set",
                            "some/where/{}:workers=1,persistent_workers=true".format(SECOND))
    t.equal(done.status, 0, "status", done.err)
    t.equal(settings(database), [(3, 4, 0), (1, 4, 1)], "settings")
    run = judged(database)["run"]
    t.equal(run["set"], {
        "asked": "workers=3,prefetch_factor=4;some/where/{}:workers=1,persistent_workers=true".format(SECOND),
        "done": [FIRST + ": workers 1 -> 3, prefetch_factor 2 -> 4", SECOND +
                 ": workers 2 -> 1, prefetch_factor 2 -> 4, persistent_workers false -> true"],
        "samples": "other_order_if_shuffled"}, "JSON")
    text = " ".join(t.report(database).out.split())
    t.check("Set {}: workers 1 -> 3, prefetch_factor 2 -> 4;".format(FIRST) in text and
            "(by --set): other random numbers, and so another order if they shuffle" in text, "the screen", text)
    done, database = dlprof(folder, "--set", "workers=0")
    t.equal(settings(database), [(0, None, 0), (0, None, 0)], "no workers", done.err)
    done, database = dlprof(folder, "--set", "workers=2,persistent=1", workers=0)
    t.equal(done.status, 2, "persistent=1 is no word of it", done.err)
    done, database = dlprof(folder, "--set", "num_workers=2", workers=0)
    t.equal(settings(database), [(2, 2, 0)] * 2, "from none", done.err)
    # torch 1.13 has no in_order: said, and nothing else.
    done, database = dlprof(folder, "--set", "in_order=false", "--set", "workers=1", workers=1)
    t.equal(done.status, 0, "status", done.err)
    if "torch 2" not in done.out:
        t.check("in_order was not set at" in t.report("-v", database).out or
                "in_order true -> false" in t.report(database).out, "in_order", done.err)
    # What has no effect is not said to be done, and why is said once, though there are two epochs.
    for setting, asked, words in (
            ("in_order=false,prefetch_factor=4,persistent_workers=true,context=fork,threads=1", 0,
             "only workers get it, and there are none"),
            ("pin_memory=true", 1, "PyTorch sees no GPU to pin memory for")):
        for pin in ("0", "1", "other")[:2 + asked]:
            done, database = dlprof(folder, "--set", setting, workers=asked, TEST_PIN=pin, EPOCHS="2")
            pins = asked and (pin == "1" or pin == "other" and asks_accelerator())
            keys = [] if pins else [one.split("=")[0] for one in setting.split(",")]
            notes = [note for note, in values(database, "SELECT text FROM note WHERE level = 'warning'")]
            for place in (FIRST, SECOND)[not asked:]:
                for key in keys:
                    t.equal(notes.count("{} was not set at {}: {}".format(key, place, words)), 1,
                            key, place, notes)
            t.equal([one for one in judged(database)["run"]["set"]["done"] if SECOND in one],
                    [SECOND + ": pin_memory false -> true"] if not keys else [], setting, done.err)
    # A variable that makes no sense does nothing, and a note says so.
    done, database = dlprof(folder, DLPROF_SET="workers=all")
    t.equal(settings(database), [(1, 2, 0), (2, 2, 0)], "the variable")
    notes = values(database, "SELECT text FROM note WHERE level = 'warning'")
    t.check(any("DLPROF_SET wants" in note for note, in notes), "the note", notes)


def check_fingerprint(folder):
    """A gate takes no run with --set for a baseline of one without; compare names it."""
    _, plain = dlprof(folder, workers=1)
    _, other = dlprof(folder, "--set", "sharing=file_system", workers=1)
    compared = json.loads(t.report("compare", "--json", plain, other).out)
    t.equal([(c["field"], c["a"], c["b"]) for c in compared["changes"]],
            [("set", "", "sharing=file_system")], "changes")
    text = t.report("compare", plain, other).out
    t.check("set: nothing -> sharing=file_system" in text, "in words", text)
    runs = [dlprof(folder, *words, workers=1, SAMPLES=2800)[1]
            for words in ([], ["--set", "sharing=file_system"])]
    gate = t.report("gate", runs[1], "--baseline", runs[0])
    t.check(gate.status == 3 and re.search(r"Not used.*\bset\b", gate.out, re.S), "the gate", gate.status, gate.out, gate.err)


def check_stop(folder):
    done, database = dlprof(folder, "--stop-after", "70", "--set", "workers=3")
    t.equal((done.status, done.out), (0, ""), "ended", done.err)
    t.check(not os.path.exists(os.path.join(folder, "ran")), "something of the user's ran")
    t.equal(values(database, "SELECT COUNT(*) FROM batch WHERE batch IS NOT NULL"), [(70,)], "batches")
    t.equal(values(database, "SELECT exit FROM process WHERE role = 'main'"), [("clean",)], "its end")
    t.check("End" not in t.report(database).out, "workers that dlprof ended", t.report(database).out)
    found = judged(database)
    t.equal(found["run"]["stopped_after"], 70, "in JSON")
    t.equal(found["loss"]["events"], 0, "lost")
    warnings = " ".join(found["coverage"]["warnings"])
    t.check(re.search(r"wrote \S*/model.pt \(3 MB\)", warnings), "what it wrote", warnings)
    t.check("small.pt" not in warnings, "small files", warnings)
    mine = [line for line in os.popen("ps -eo args").read().splitlines() if folder + " 2" in line]
    t.equal(mine, [], "processes left")
    # Where the program has fewer batches, it ends by itself, and output of before the end is there.
    done, database = dlprof(folder, "--stop-after", "121")
    t.equal(done.out, "not flushed 120", "ends by itself", done.err)
    t.check(os.path.exists(os.path.join(folder, "ran")), "its end was run")
    t.equal(judged(database)["run"]["stopped_after"], None, "not stopped")
    done, database = dlprof(folder, "--stop-after", "1")
    text = t.report(database).out
    t.check("too few batches" in text and "Record the training with dlprof" not in text, "one batch", text)


def check_flush(folder):
    """What was printed before is not lost."""
    program = os.path.join(folder, "prints.py")
    with open(program, "w") as file:
        file.write("import sys\nfrom torch.utils.data import DataLoader\nprint('before')\n"
                   "for i, b in enumerate(DataLoader(list(range(90)))):\n    sys.stdout.write(str(i) + ' ')\n")
    done = t.run([t.DLPROF, "run", "-q", "-o", os.path.join(folder, "flush.db"), "--stop-after", "12",
                  t.PYTHON, program], env=t.environment(preload=False))
    t.equal(done.out, "before\n" + "".join("{} ".format(i) for i in range(12)), "output", done.err)


def main():
    t.need_shim()
    t.need_torch()
    t.use_stub()
    for check in (check_refusals, check_set, check_fingerprint, check_stop, check_flush):
        begin = time.monotonic()
        check(t.scratch())
        t.say("{}: {:.1f} s".format(check.__name__, time.monotonic() - begin))
    t.finish()


main()
