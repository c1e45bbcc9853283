# SPDX-License-Identifier: Apache-2.0
"""If no run is named, verbs take the newest run of the folder, and say which one that is."""
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlprof_test as t
import rundb


def report(folder, *arguments):
    return t.run([t.REPORT] + list(arguments), cwd=folder, env=t.environment(preload=False))


def make(folder, name, written):
    path = rundb.lockstep(os.path.join(folder, name))
    os.utime(path, (written, written))
    return path


def main():
    folder, nothing = t.scratch(), t.scratch()
    make(folder, "old.db", 1000)
    make(folder, "new.db", 3000)
    make(folder, "middle.db", 2000)
    # Newer files that are no runs.
    sqlite3.connect(os.path.join(folder, "bookmarks.db")).execute("CREATE TABLE bookmarks (a)")
    make(folder, "dlprof.backup", 4000)
    os.mkdir(os.path.join(folder, "folder.db"))
    found = report(folder, "--json")
    t.equal((found.status, found.err), (0, "dlprof-report: the newest run here: new.db\n"))
    t.equal(json.loads(found.out)["run"]["path"], "new.db")
    t.equal(report(folder, "-q").err, "", "-q")
    for verb in (["batches", "--csv"], ["top"]):
        found = report(folder, *verb)
        t.equal((found.status, found.err), (0, "dlprof-report: the newest run here: new.db\n"), verb)
    # A run that records now has its newest batches in the log beside it.
    log = os.path.join(folder, "old.db-wal")
    open(log, "w").close()
    t.check("old.db" in report(folder).err, "the one that is being written")
    for where in (nothing, os.path.join(folder, "folder.db")):
        found = report(where)
        t.equal((found.status, found.out, found.err.count("\n")), (2, "", 1))
        t.check("there is none in this folder" in found.err, found.err)
    for verb in ("gate", "html", "trace", "export", "compare"):
        found = report(folder, verb, "-o", "x")
        t.equal((found.status, found.out), (2, ""), verb)
        t.check("something is missing" in found.err, verb, found.err)
    t.finish()


main()
