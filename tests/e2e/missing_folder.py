# SPDX-License-Identifier: Apache-2.0
"""A database in a folder that is not there yet: the folder is made, as by `mkdir -p`; where it cannot
be, one line says so and the program runs as ever."""
import glob
import os
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402

BATCHES = 30
PROGRAM = """
import ctypes
shim = ctypes.CDLL(None)
for i in range({}):
    shim.dlprof_batch_begin()
    shim.dlprof_batch_end(ctypes.c_int64(i))
""".format(BATCHES)


def recorded(folder, out, database, umask=0o022):
    done = t.run([t.PYTHON, "-c", PROGRAM], cwd=folder, preexec_fn=lambda: os.umask(umask),
                 env=t.environment(DLPROF_OUT=out, DLPROF_QUIET=1, SLURM_JOB_ID=71, SLURM_PROCID=3))
    t.equal((done.status, done.out, done.err), (0, "", ""), out)
    t.wait_for_drain(folder)
    found = glob.glob(os.path.join(folder, database))
    if t.equal(len(found), 1, out, "databases", os.listdir(folder)):
        t.equal(t.rows(found[0], "SELECT count(*) AS n FROM batch")[0]["n"], BATCHES, out)


def refused(folder, out, why):
    """Nothing is recorded, which one line says; the launcher says it before anything runs."""
    path = os.path.join(folder, out)
    done = t.run([t.PYTHON, "-c", PROGRAM], env=t.environment(DLPROF_OUT=path))
    t.equal((done.status, done.out, done.err.count("\n")), (0, "", 1), out, done.err)
    t.check(path in done.err and why in done.err, out, done.err)
    done = t.run([t.DLPROF, "run", "-o", path, "echo", "ran"], env=t.environment(preload=False))
    t.equal((done.status, done.out, done.err.count("\n")), (2, "", 1), "dlprof run", done.err)
    t.check(why in done.err, "dlprof run", out, done.err)


def main():
    t.need_shim()
    folder = t.scratch()
    recorded(folder, "runs/%j/%r/run.db", "runs/71/3/run.db")
    recorded(folder, os.path.join(folder, "whole", "path", "run.db"), "whole/path/run.db")
    recorded(folder, "own/run.db", "own/run.db", umask=0o077)
    t.equal(stat.S_IMODE(os.stat(os.path.join(folder, "own")).st_mode), 0o700, "the user's umask")
    recorded(folder, "one/of-%r/", "one/of-3/dlprof-*.db")
    with open(os.path.join(folder, "file"), "w"):
        pass
    refused(folder, "file/new/run.db", "ot a directory")
    t.equal(sorted(os.listdir(folder)), ["file", "one", "own", "runs", "whole"], "left behind")
    t.finish()


main()
