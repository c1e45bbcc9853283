# SPDX-License-Identifier: Apache-2.0
"""A secret of the command line is in no file that a run leaves or works with, and in no output."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, report,  # noqa
                         rows, scratch, wait_for_drain)

SECRET = "s3cr3tOfMine"
PROGRAM = """
import ctypes, os, sys, time
shim = ctypes.CDLL(None)
def batches(count):
    for _ in range(count):
        shim.dlprof_batch_begin()
        shim.dlprof_batch_end(ctypes.c_int64(-1))
batches(50)
if os.fork() == 0:
    shim.dlprof_load_begin(ctypes.c_int64(0))
    shim.dlprof_load_end(ctypes.c_int64(0))
    time.sleep(0.1)
    os._exit(0)
os.wait()
sys.stdin.readline()
batches(50)
"""
ARGUMENTS = ["WANDB_API_KEY=" + SECRET, "--api-key=" + SECRET, "--api-key", SECRET, "--lr", "0.1",
             "https://joe:" + SECRET + "@host/x", "-H", "Authorization: Bearer " + SECRET,
             "--epochs", "3", "hf_AbCdEfGhIj" + SECRET, "{'password': '" + SECRET + "'}"]
FORMS = ([], ["--json"], ["batches", "--csv"], ["batches", "--json"], ["html"], ["trace"],
         ["export", "--view", "meta"], ["export", "--view", "process"],
         ["gate", "--max-stall-ratio", "1", "--format", "json"])


def holders(folder):
    """Files that have it, and how many there are."""
    found, count = [], 0
    for where, _, leaves in os.walk(folder):
        for leaf in leaves:
            with open(os.path.join(where, leaf), "rb") as file:
                count += 1
                if SECRET.encode() in file.read():
                    found.append(leaf)
    return found, count


def main():
    need_shim()
    folder = scratch()
    database = os.path.join(folder, "run.db")
    program = "x = 'a string with password=" + SECRET + " in it'\n" + PROGRAM
    process = subprocess.Popen(
        [PYTHON, "-c", program] + ARGUMENTS, stdin=subprocess.PIPE,
        env=environment(DLPROF_OUT=database, DLPROF_SEGMENT_DIR=folder, DLPROF_QUIET="1"))
    end = time.monotonic() + 20
    while time.monotonic() < end and not os.path.exists(database + "-wal"):
        time.sleep(0.05)
    time.sleep(1)
    found, count = holders(folder)
    equal(found, [], "while it records: held by")
    check(count >= 3, "while it records: files", count)
    process.communicate(b"\n")
    equal(process.returncode, 0, "status")
    wait_for_drain(database)
    equal(holders(folder)[0], [], "after the run: held by")
    command = rows(database, "SELECT value FROM meta WHERE key = 'command'")[0]["value"]
    check("--api-key=*** --api-key *** --lr 0.1 *** -H Authorization: *** --epochs 3" in command,
          "the rest stays readable", command)
    for form in FORMS:
        done = report(*form, database)
        check(done.status in (0, 3), form, "status", done.status, done.err)
        check(SECRET not in done.out + done.err, form, "says it")
        check(done.out, form, "says nothing")
    finish()


main()
