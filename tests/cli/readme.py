# SPDX-License-Identifier: Apache-2.0
"""The report in README.md is dlprof-report's output for a real training.

usage: readme.py [--update | --record RUN.db]
quickstart.dump is the database that examples/quickstart.sh left, as text. --update writes README.md's
block anew; --record takes another run first.
"""
import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import REPORT, ROOT, check, equal, finish, run, scratch  # noqa

README = os.path.join(ROOT, "README.md")
DUMP = os.path.join(ROOT, "tests", "cli", "quickstart.dump")
BLOCK = re.compile(r"(<!-- tests/cli/readme.py -->\n)(.*?)(<!-- end -->\n)", re.S)


def record(path):
    with sqlite3.connect(path) as db, open(DUMP, "w", encoding="utf-8") as out:
        for pragma in ("application_id", "user_version"):
            out.write("PRAGMA {}={};\n".format(
                pragma, db.execute("PRAGMA " + pragma).fetchone()[0]))
        for line in db.iterdump():
            out.write(line + "\n")


def report():
    folder = scratch()
    with sqlite3.connect(os.path.join(folder, "quickstart.db")) as db, \
            open(DUMP, encoding="utf-8") as dump:
        db.executescript(dump.read())
    done = run([REPORT, "quickstart.db"], cwd=folder,
               env=dict(os.environ, COLUMNS="84", LC_ALL="C.UTF-8", NO_COLOR="1"))
    equal((done.status, done.err), (0, ""), "status")
    return "".join(("    " + line).rstrip() + "\n" for line in done.out.splitlines())


def main():
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2])
    with open(README, encoding="utf-8") as file:
        text = file.read()
    found = BLOCK.search(text)
    if not check(found, "README.md has no report in it"):
        finish()
    fresh = report()
    if len(sys.argv) > 1:
        with open(README, "w", encoding="utf-8") as file:
            file.write(BLOCK.sub(lambda match: match[1] + fresh + match[3], text))
    else:
        equal(found[2], fresh, "README.md's report; readme.py --update writes what it is now")
    finish()


main()
