# SPDX-License-Identifier: Apache-2.0
"""To read a rank takes few calls that go to the server of a network file system: 15 ms at most with 0.5 ms
each, and no lock. A file that is being written is read with its log."""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlprof_test as t
import rundb

RANKS = 12
MOST = 30
CALLS = "stat,lstat,newfstatat,open,openat,read,pread64,fcntl,readlink,readlinkat,access,close"


def count_calls(folder):
    log = os.path.join(t.scratch(), "log")
    subprocess.run(["strace", "-y", "-e", "trace=" + CALLS, "-o", log, t.REPORT, "--json", folder],
                   stdout=subprocess.DEVNULL, env=t.environment(preload=False))
    # Leaves out calls on an open file that cost nothing: fstat, settings of the descriptor.
    lines = [line for line in open(log) if folder + "/" in line
             and not re.search(r'newfstatat\(\d|F_GETFD|F_SETFD|F_GETFL', line)]
    return lines, [line for line in lines if "F_SETLK" in line or "F_OFD_SETLK" in line]


def main():
    if not shutil.which("strace") or subprocess.run(
            ["strace", "-o", "/dev/null", "/bin/true"], stderr=subprocess.DEVNULL).returncode:
        t.skip("no strace")
    folder = rundb.job(t.scratch(), [1] * (RANKS - 1) + [90], steps=40)
    lines, locks = count_calls(folder)
    t.check(lines, "strace saw nothing")
    t.check(len(lines) <= MOST * RANKS, len(lines), "calls for", RANKS, "ranks", "".join(lines[:60]))
    t.equal(locks, [], "locks")
    # One more batch, which is only in the log, since the writer still has the file open.
    path = os.path.join(folder, "r0.db")
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    before = json.loads(t.report("--json", path).out)["stall"]["batches"]
    writer.execute("INSERT INTO t_batch (loader_id, epoch, task, batch, begin_ns, wait_ns, compute_ns) "
                   "SELECT loader_id, epoch, 1000, 1000, begin_ns, 1000000, 100000000 FROM t_batch LIMIT 1")
    writer.commit()
    t.equal(json.loads(t.report("--json", path).out)["stall"]["batches"], before + 1, "with its log")
    writer.close()
    t.finish()


main()
