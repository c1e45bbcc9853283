# SPDX-License-Identifier: Apache-2.0
"""Each row of decode.def, called once with success and once with failure, counts what its family must count."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import environment, equal, finish, need_shim, run, say, scratch  # noqa


def main():
    need_shim()
    folder = scratch()
    done = run([sys.argv[1]], env=environment(DLPROF_ACTIVATE="always", DLPROF_QUIET="1", TMPDIR=folder,
                                              DLPROF_OUT=os.path.join(folder, "run.db")))
    say(done.out.strip())
    equal((done.status, done.err), (0, ""), "status, errors")
    finish()


main()
