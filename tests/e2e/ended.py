# SPDX-License-Identifier: Apache-2.0
"""A report says how a training ended that did not end well, and says nothing of one that did."""
import concurrent.futures
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (DLPROF, PYTHON, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, report, run, scratch, use_stub, wait_for_drain)

PROGRAM = """
import os, signal, sys, time
from torch.utils.data import DataLoader

class Dataset:
    def __len__(self):
        return 400
    def __getitem__(self, i):
        if sys.argv[1] == "worker" and i == 200:
            os.kill(os.getpid(), signal.SIGKILL)
        return i

for k, batch in enumerate(DataLoader(Dataset(), batch_size=4, num_workers=2)):
    time.sleep(0.005)
    if k == 59:
        if sys.argv[1] == "error":
            raise ValueError
        if sys.argv[1] == "exit":
            sys.exit(7)
        if sys.argv[1] == "caught":
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(60)
            except KeyboardInterrupt:
                break
        if sys.argv[1].isdigit():
            os.kill(os.getpid(), int(sys.argv[1]))
            time.sleep(60)
"""

# Who ends how: what the screen says of it, and the status of the launcher.
ENDS = {
    "well": ([], 0),
    "caught": ([], 0),
    "error": (["Ended with exit status 1, after 60 batches"], 1),
    "exit": (["Ended with exit status 7, after 60 batches"], 7),
    "2": (["Interrupted by SIGINT, as by Ctrl-C, after 60 batches"], -2),
    "9": (["Killed by SIGKILL, as when memory runs out, after 60 batches"], -9),
    "11": (["Killed by SIGSEGV, after 60 batches"], -11),
    "worker": (["Worker 0 was killed by SIGKILL, as when memory runs out",
                "Ended with exit status 1, after"], 1),
}


def said(text):
    return [line[9:] for line in text.splitlines() if line.startswith("  End    ")]


def check_said(name, found, expected):
    check(len(found) == len(expected) and
          all(line.startswith(start) for line, start in zip(found, expected)),
          name, "said", found, "instead of", expected)


def check_end(folder, name, expected, status):
    database = os.path.join(folder, name + ".db")
    result = run([DLPROF, "run", "-o", database, PYTHON, "program.py", name], cwd=folder,
                 env=environment(preload=False))
    equal(result.status, status, name, "status")
    check_said(name, said(result.err), expected)
    for form in [["-v"], ["--markdown"]]:
        text = report(*form, database).out
        check(all(line in text for line in expected), name, form, text[:2000])
    page = os.path.join(folder, name + ".html")
    report("html", database, "-o", page)
    with open(page) as file:
        text = file.read()
    check(all(line in text for line in expected), name, "html")
    end = json.loads(report("--json", database).out)["run"]["end"]
    if name.isdigit():
        equal([end["status"], end["signal"]], [None, int(name)], name, "JSON")
    else:  # before Linux 6.15 it may not be known that all went well
        check(end["status"] == status or (end["status"] is None and not status), name, "JSON", end)
        equal(end["signal"], None, name, "JSON")
    check_said(name, [end[who] for who in ("workers", "program") if end[who]], expected)


def check_bare(folder):
    """Without the launcher, and with a report while it records."""
    database = os.path.join(folder, "bare.db")
    training = subprocess.Popen(
        [PYTHON, "-c", PROGRAM.replace("sleep(0.005)", "sleep(0.05)"), "9"],
        env=environment(DLPROF_OUT=database, DLPROF_QUIET="1"), cwd=folder)
    text = ""
    while training.poll() is None and "still recording" not in text:
        text = report(database).out
    if training.poll() is None:
        check_said("live", said(text), [])
    equal(training.wait(), -9, "bare")
    wait_for_drain(database)
    found = said(report(database).out)
    # Before Linux 6.15 the shell may ask first.
    check(found in ([ENDS["9"][0][0]], ["Ended abruptly, most likely killed, after 60 batches"]),
          "bare", found)


def check_job(folder):
    """The ranks of a job, of which a launcher ended the others when one failed."""
    ranks = [(name, subprocess.Popen(
        [PYTHON, "program.py", name], cwd=folder,
        env=environment(DLPROF_OUT=os.path.join(folder, "job", "%r.db"), RANK=rank, WORLD_SIZE=4,
                        DLPROF_QUIET="1"))) for rank, name in enumerate(["15", "9", "15", "well"])]
    for rank, (name, process) in enumerate(ranks):
        equal(process.wait(120), 0 if name == "well" else -int(name), "rank", rank)
        wait_for_drain(os.path.join(folder, "job", "{}.db".format(rank)))
    text = report(os.path.join(folder, "job")).out
    check("rank 1: Killed by SIGKILL, as when memory runs out; 2 more ranks did not end well" in
          " ".join(text.split()), "job", text)


def main():
    need_shim()
    need_torch()
    folder = scratch()
    with open(os.path.join(folder, "program.py"), "w") as file:
        file.write(PROGRAM)
    os.mkdir(os.path.join(folder, "job"))
    # A killed training's workers notice it after five seconds: mostly this test waits.
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        # It is torch that says of a worker how it ended.
        ended = [pool.submit(check_end, folder, "worker", *ENDS.pop("worker")),
                 pool.submit(check_bare, folder)]
        concurrent.futures.wait(ended)
        use_stub()
        ended += [pool.submit(check_end, folder, name, *end) for name, end in ENDS.items()]
        ended.append(pool.submit(check_job, folder))
        for one in ended:
            one.result()
    finish()


main()
