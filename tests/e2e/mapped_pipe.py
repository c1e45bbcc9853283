# SPDX-License-Identifier: Apache-2.0
"""A pipe by the name that /proc gives to a removed library does not stop the drain."""
import glob
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, environment, equal, finish, need_shim, report, rows,  # noqa: E402
                         run, scratch, skip, wait_for_drain)

HOST = """
import ctypes, os, sys, time
ctypes.CDLL(sys.argv[1])
os.unlink(sys.argv[1])
os.mkfifo(sys.argv[1] + " (deleted)")
time.sleep(2)
"""


def main():
    need_shim()
    libraries = [path for name in ("libsqlite3.so*", "libz.so*", "libm.so*")
                 for path in sorted(glob.glob("/usr/lib/*/" + name))]
    if not libraries:
        skip("no library to copy")
    folder = scratch()
    module, database = os.path.join(folder, "x.so"), os.path.join(folder, "run.db")
    shutil.copy(os.path.realpath(libraries[0]), module)
    done = run([sys.executable, "-c", HOST, module],
               env=environment(DLPROF_ACTIVATE="always", DLPROF_OUT=database, TMPDIR=folder))
    equal(done.status, 0, done.err)
    check(wait_for_drain(database, 10), "the drain waits for the pipe")
    equal(sorted(os.listdir(folder)), ["run.db", "x.so (deleted)"], "left behind")
    equal(report(database).status, 3, "report")
    check(rows(database, "SELECT value FROM meta WHERE key = 'end_ns'"), "the run has no end")
    finish()


main()
