# SPDX-License-Identifier: Apache-2.0
"""Reads by libaio and io_uring, which do not go through libc, count as far as they can be known.

usage: async.py PROGRAM... (async-libaio, async-liburing)
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, environment, equal, finish, need_shim, rows, run, say,  # noqa
                         scratch, skip, wait_for_drain)

SIZE = 5 * 8 * 16384 - 1000


def check_program(program):
    library = os.path.basename(program).split("-")[1]
    folder, database = scratch(), os.path.join(scratch(), "run.db")
    with open(os.path.join(folder, "data"), "wb") as data:
        data.write(bytes(i * 7 % 251 for i in range(SIZE)))
    bare = run([program], env=environment(preload=False), cwd=folder)
    if bare.status == 77:
        say(library, "cannot be used here:", bare.out.strip())
        return False
    equal(bare.status, 0, library, "without the preload", bare.err)
    done = run([program], cwd=folder,
               env=environment(DLPROF_OUT=database, DLPROF_QUIET=1, DLPROF_ACTIVATE="always"))
    equal((done.status, done.out, done.err), (bare.status, bare.out, bare.err), library)
    wait_for_drain(database)
    patched = rows(database, "SELECT value FROM meta WHERE key = 'decoders_patched'")
    equal([row["value"] for row in patched], [library], "libraries that were reached")
    loads = rows(database, "SELECT batch, read_count, read_bytes, read_ns, load_ns FROM load "
                 "ORDER BY batch")
    say(library, [tuple(load.values()) for load in loads])
    if not equal([load["batch"] for load in loads], [0, 1, 2, 3], library, "loads"):
        return True
    for load in loads[:2]:
        check(0 < load["read_ns"] <= load["load_ns"], library, "time of reads", load)
        check(load["read_count"] > 0, library, "reads", load)
        # Only the caller looks into the ring of an io_uring: dlprof does not know the bytes.
        equal(load["read_bytes"], SIZE if library == "libaio" else 0, library, "bytes", load)
    if library == "libaio":
        equal((loads[2]["read_count"], loads[2]["read_bytes"], loads[2]["read_ns"]), (0, 0, 0),
              library, "writing is not reading")
    equal(loads[3]["read_count"], 0, library, "a wait that brought nothing is no read")
    check(loads[3]["read_ns"] > 0 or library == "libaio", library, "but takes its time", loads[3])
    return True


def main():
    need_shim()
    if not any([check_program(os.path.abspath(program)) for program in sys.argv[1:]]):
        skip("the kernel allows neither")
    finish()


main()
