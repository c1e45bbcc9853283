# SPDX-License-Identifier: Apache-2.0
"""A drain that may not remove the segments ends all the same, and a database once removed stays so.

What is left, and why, the database says.
"""
import os
import platform
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (DRAIN, check, databases, drains, environment, equal, finish,  # noqa: E402
                         need_shim, report, rows, run, run_without_drain, say, scratch,
                         wait_for_drain)

SLEEP = [sys.executable, "-c", "import sys; sys.stdin.read()"]


def notes(database):
    return [row["text"] for row in rows(database, "SELECT text FROM note")]


def end_ns(database):
    return rows(database, "SELECT value FROM meta WHERE key = 'end_ns'")[0]["value"]


def check_immutable():
    database, segments = run_without_drain()
    if subprocess.run(["chattr", "+i", segments], stderr=subprocess.DEVNULL).returncode:
        return say("no chattr +i here: the immutable folder is not tried")
    try:
        begin = time.monotonic()
        done = run([DRAIN, segments, database], timeout=30)
        equal(done.status, 0, "immutable: the drain")
        check(time.monotonic() - begin < 10, "immutable: the drain takes long")
        check(any(segments in note and "not permitted" in note for note in notes(database)),
              "immutable: no note:", notes(database))
        equal(os.listdir(os.path.dirname(database)).count("run.db-wal"), 0, "immutable: -wal")
        end = end_ns(database)
        for again in range(2):
            equal(report(database).status, 3, "immutable: report")
        equal(end_ns(database), end, "immutable: a report changed the end of the run")
    finally:
        subprocess.run(["chattr", "-i", segments])
    report(database)
    equal(os.listdir(os.path.dirname(database)), ["run.db"], "no more immutable: left behind")


def drain_denied(calls):
    """By a sandbox."""
    database, segments = run_without_drain()
    begin = time.monotonic()
    run(["strace", "-o", "/dev/null", "-e", "inject=" + calls + ":error=EPERM", DRAIN, segments,
         database], timeout=60)
    check(time.monotonic() - begin < 30, calls, "denied: the drain takes long")
    return database, segments


def check_denied():
    database, segments = drain_denied("unlinkat")
    check(any(segments in note for note in notes(database)), "denied: no note:", notes(database))
    equal(report(database).status, 3, "denied: report")
    equal(os.listdir(os.path.dirname(database)), ["run.db"], "denied: left behind")


def check_all_denied():
    """Nor can SQLite remove a journal then: it may take another name, and loses nothing."""
    database, _ = drain_denied("unlink,unlinkat")
    answers = [report(path).status for path in databases(os.path.dirname(database))]
    equal(answers.count(3), 1, "all denied: reports", answers)
    equal([name for name in os.listdir(os.path.dirname(database)) if "dlprof-" in name], [],
          "all denied: left behind")


def check_removed_database():
    """By whoever does not want it. The drain has it open, or has not yet."""
    for wait_s in (0, 1):
        folder = scratch()
        database = os.path.join(folder, "run.db")
        program = subprocess.Popen(SLEEP, stdin=subprocess.PIPE, env=environment(
            DLPROF_ACTIVATE="always", DLPROF_OUT=database, TMPDIR=folder, DLPROF_QUIET=1))
        while not drains(database):
            time.sleep(0.001)
        time.sleep(wait_s)
        for name in os.listdir(folder):
            if name in ("run.db", "run.db-wal", "run.db-shm"):
                os.unlink(os.path.join(folder, name))
        program.communicate(timeout=30)
        wait_for_drain(database)
        check(not os.path.exists(database), "removed after", wait_s, "s: made anew")


def main():
    need_shim()
    if not shutil.which("strace"):
        say("no strace: denied system calls are not tried")
    elif platform.machine() == "x86_64":  # elsewhere unlink() is unlinkat()
        check_denied()
        check_all_denied()
    check_removed_database()
    if os.getuid():
        say("not root: the immutable folder is not tried")
    else:
        check_immutable()
    finish()


main()
