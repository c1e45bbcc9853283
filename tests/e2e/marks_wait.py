# SPDX-License-Identifier: Apache-2.0
"""A first mark waits for another thread that begins the recording: once in vain, then never again
in that process. A child forked since is another one, and loses no mark."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, SHIM, check, environment, equal, finish, need_shim, rows,  # noqa
                         run, scratch, skip, wait_for_drain)

PROGRAM = """
import ctypes, os, sys, threading, time
shim = ctypes.CDLL(None)

def mark(name, late):
    time.sleep(late)
    begin = time.monotonic()
    shim.dlprof_mark(name.encode())
    # One write for the whole line: two threads end at the same time.
    sys.stdout.write("%s %f\\n" % (name, time.monotonic() - begin))
    sys.stdout.flush()

def mark_all(who):
    threads = [threading.Thread(target=mark, args=(who + name, late))
               for name, late in ((" one", 0), (" two", 0.1), (" three", 3.5))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

mark_all("parent")
if os.fork() == 0:
    mark_all("child")
    os._exit(0)
os.wait()
"""
# The parent makes the folder, which takes too long, and each of them a segment.
SLOW = ["-e", "trace=mkdirat,renameat2", "-e", "inject=mkdirat:delay_enter=5000000",
        "-e", "inject=renameat2:delay_enter=500000"]


def main():
    need_shim()
    if not shutil.which("strace") or subprocess.run(
            ["strace", "-o", "/dev/null", "/bin/true"], stderr=subprocess.DEVNULL).returncode:
        skip("no strace")
    folder = scratch()
    database = os.path.join(folder, "run.db")
    done = run(["strace", "-f", "-o", os.path.join(folder, "calls")] + SLOW +
               ["env", "LD_PRELOAD=" + SHIM, PYTHON, "-c", PROGRAM], cwd=folder,
               env=environment(preload=False, DLPROF_OUT=database, DLPROF_QUIET="1"))
    equal(done.status, 0, "status", done.err)
    wait_for_drain(database)
    took = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in done.out.splitlines()}
    check(1 <= took.get("parent two", 0) < 3.4, "it waits for a second", took)
    check(took.get("parent three", 9) < 0.5, "and nobody again", took)
    equal([row["text"] for row in rows(database, "SELECT text FROM t_mark ORDER BY text")],
          ["child one", "child three", "child two", "parent one"], "marks", took)
    finish()


main()
