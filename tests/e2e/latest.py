# SPDX-License-Identifier: Apache-2.0
"""dlprof.latest() in a training is its own stopwatch's account; dlprof.read() gives the stable views."""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, ROOT, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, report, rows, run, scratch, wait_for_drain)

PACKAGE = os.path.join(ROOT, "analyzer", "python")

TRAINING = """
import json, sys, threading, time
import dlprof
from torch.utils.data import DataLoader

class Samples:
    def __len__(self):
        return 160
    def __getitem__(self, index):
        time.sleep(0.004)
        return index

if __name__ == "__main__":
    print(json.dumps(dlprof.latest()))
    began, waited = None, 0.0
    for epoch in range(2):
        before = time.perf_counter()
        iterator = iter(DataLoader(Samples(), batch_size=4, num_workers=1))
        if began:
            waited += time.perf_counter() - before
        while True:
            before = time.perf_counter()
            if began:
                so_far, own = dlprof.latest(), (waited, before - began)
            batch = next(iterator, None)
            now = time.perf_counter()
            if began:
                waited += now - before
            if batch is None:
                break
            began = began or now
            time.sleep(0.01)
    print(json.dumps([so_far, own]))
    elsewhere = []
    thread = threading.Thread(target=lambda: elsewhere.append(dlprof.latest()))
    thread.start()
    thread.join()
    print(json.dumps(elsewhere[0]))
"""
FRAMES = """
class DataFrame:
    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
"""


def ask(text, database, **changes):
    return run([PYTHON, "-c", text, database],
               env=environment(False, PYTHONPATH=os.pathsep.join([PACKAGE] + changes.pop("path", [])),
                               **changes))


def check_latest(folder):
    database, program = os.path.join(folder, "run.db"), os.path.join(folder, "train.py")
    with open(program, "w") as file:
        file.write(TRAINING)
    done = run([PYTHON, program], env=environment(DLPROF_OUT=database, PYTHONPATH=PACKAGE))
    lines = [json.loads(line) for line in done.out.splitlines()]
    equal((done.status, lines[0]), (0, {}), "before the first batch", done.err)
    so_far, (waited, time) = lines[1]
    equal(sorted(so_far), ["batches", "ratio", "time_s", "wait_s"], "keys")
    # Up to the begin of the last wait, which is one step before the stopwatch's moment.
    check(abs(so_far["ratio"] - waited / time) < 0.02, "ratio", so_far, waited / time)
    check(abs(so_far["wait_s"] - waited) < 0.05 * time, "wait", so_far, waited)
    check(abs(so_far["time_s"] - time) < 0.05 * time, "time", so_far, time)
    equal(lines[2]["batches"], 80, "of another thread", lines[2])
    wait_for_drain(database)
    stall = json.loads(report(database, "--json").out)["stall"]
    check(abs(lines[2]["ratio"] - stall["ratio"]) < 0.01, "the report's", lines[2], stall["ratio"])
    alone = run([PYTHON, program], env=environment(False, PYTHONPATH=PACKAGE))
    equal(alone.out.splitlines()[0], "{}", "nothing preloaded", alone.err)
    return database


def check_read(database, folder):
    text = ("import dlprof, json, sys; tables = dlprof.read(sys.argv[1]); "
            "print(json.dumps([sorted(tables), tables['batch'], tables['loader']]))")
    done = ask(text, database)
    names, batches, loaders = json.loads(done.out) if done.status == 0 else ([], [], [])
    check(set("meta process loader batch load decode file slow gap loss note".split()) <= set(names),
          "views", names, done.err)
    equal(batches, [dict(row) for row in rows(database, "SELECT * FROM batch")], "batches")
    equal(loaders[0]["workers"], 1, "loader", loaders)
    with open(os.path.join(folder, "pandas.py"), "w") as file:
        file.write(FRAMES)
    done = ask("import dlprof, sys; frame = dlprof.read(sys.argv[1])['batch']; "
               "print(type(frame).__name__, len(frame.rows), frame.columns[:4])", database,
               path=[folder])
    equal(done.out, "DataFrame 80 ['rank', 'loader_id', 'epoch', 'batch']\n", "frames", done.err)


def check_refused(database, folder):
    text = ("import dlprof, sys\ntry: dlprof.read(sys.argv[1])\n"
            "except (OSError, ValueError) as error: print(type(error).__name__)")
    junk, other = os.path.join(folder, "junk.db"), os.path.join(folder, "other.db")
    with open(junk, "w") as file:
        file.write("no database at all" * 100)
    shutil.copy(database, other)
    with open(other, "r+b") as file:  # the application id of SQLite's header
        file.seek(68)
        file.write(b"abcd")
    for path, error in ((os.path.join(folder, "none.db"), "FileNotFoundError"),
                        (junk, "ValueError"), (other, "ValueError")):
        equal(ask(text, path).out, error + "\n", path)


def main():
    need_shim()
    need_torch()
    folder = scratch()
    database = check_latest(folder)
    check_read(database, folder)
    check_refused(database, folder)
    finish()


main()
