# SPDX-License-Identifier: Apache-2.0
"""Tests the last lines of tests/run.sh: they name tests that failed or were skipped, and why, then the counts."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import ROOT, equal, finish, scratch  # noqa: E402

COUNT = os.path.join(ROOT, "tests", "lib", "count.py")


def closing(*logs):
    """Returns what count.py prints, and its status, for logs that each are [(name, result, output)]."""
    folder, paths = scratch(), []
    for tests in logs:
        paths.append(os.path.join(folder, str(len(paths))))
        with open(paths[-1], "w") as file:
            for name, result, said in tests:
                file.write(json.dumps({"name": "dlprof:" + name, "result": result,
                                       "stdout": said}) + "\n")
    done = subprocess.run([sys.executable, COUNT] + paths, stdout=subprocess.PIPE)
    return done.stdout.decode().splitlines(), done.returncode


def main():
    good, bad = ("x / good", "OK", "7 checks\n"), ("x / bad", "FAIL", "")
    skipped = ("x / browser", "SKIP", "began\nSKIP: no chromium\n")
    silent = ("x / silent", "SKIP", "")
    equal(closing([good, skipped, silent]), ([
        "skipped: browser: no chromium", "skipped: silent: it does not say why",
        "1 passed, 0 failed, 2 skipped"], 0), "skipped")
    equal(closing([good, bad, skipped]), ([
        "fail: bad", "skipped: browser: no chromium", "1 passed, 1 failed, 1 skipped"], 1), "failed")
    equal(closing([good, bad], [("x / bad", "OK", "")]), ([
        "fail at first, passed by itself: bad", "2 passed, 0 failed, 0 skipped"], 0), "once more")
    equal(closing([bad, ("y / bad", "OK", "")]), (["fail: bad", "1 passed, 1 failed, 0 skipped"], 1),
          "of one name")
    equal(closing([skipped]), (["skipped: browser: no chromium", "0 passed, 0 failed, 1 skipped"], 1),
          "nothing passed")
    finish()


main()
