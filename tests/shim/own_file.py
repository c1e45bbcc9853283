# SPDX-License-Identifier: Apache-2.0
"""A file with the name of the link to a run's segments is left alone, unless it is an old link of dlprof's.

The database then gets another name, as it does where a file has the database's name.
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (DRAIN, environment, equal, finish, need_shim, report, rows,  # noqa
                         run, scratch, wait_for_drain)


def record(folder, **changes):
    changes.setdefault("TMPDIR", scratch())
    done = run(["/bin/true"], env=environment(
        DLPROF_ACTIVATE="always", DLPROF_OUT=os.path.join(folder, "mine.db"), **changes))
    equal(done.status, 0, done.err)
    wait_for_drain(folder)
    return sorted(os.listdir(folder)), done.err


def check_left_alone(what, make):
    folder = scratch()
    link = os.path.join(folder, "mine.db-segments")
    make(link)
    before = os.lstat(link)
    found, said = record(folder)
    equal(found, ["mine-2.db", "mine.db-segments"], what)
    after = os.lstat(link)
    equal((after.st_ino, after.st_mode, after.st_size), (before.st_ino, before.st_mode,
                                                         before.st_size), what)
    equal("mine-2.db" in said, True, what, said)
    equal(report(os.path.join(folder, "mine-2.db")).status, 3, what)


def write(path):
    with open(path, "w") as file:
        file.write("precious")


def unfinished(link):
    """Makes `link` a link to the segments of a run that no drain took up, without its database."""
    folder, segments = scratch(), scratch()
    library = os.path.join(folder, "libdlprof.so")
    shutil.copy(os.environ.get("TEST_SHIM") or environment()["LD_PRELOAD"], library)
    record(folder, LD_PRELOAD=library, TMPDIR=segments)
    os.rename(os.path.join(folder, "mine.db-segments"), link)
    return segments


def check_replaced():
    """A link of dlprof's to a folder that is gone is replaced."""
    folder = scratch()
    os.symlink(os.path.join(scratch(), "dlprof-1-2"), os.path.join(folder, "mine.db-segments"))
    equal(record(folder)[0], ["mine.db"], "a link of ours to nothing")


def check_without_links():
    """Where no link can be made the run is recorded all the same, and a note in its database tells."""
    folder = scratch()
    done = run(["strace", "-o", "/dev/null", "-e", "inject=symlinkat:error=EPERM",
                "-E", "LD_PRELOAD=" + environment()["LD_PRELOAD"], "/bin/true"],
               env=environment(preload=False, DLPROF_ACTIVATE="always", TMPDIR=scratch(),
                               DLPROF_OUT=os.path.join(folder, "mine.db")))
    equal(done.status, 0, done.err)
    wait_for_drain(folder)
    equal(os.listdir(folder), ["mine.db"], "without links")
    equal(rows(os.path.join(folder, "mine.db"), "SELECT count(*) AS notes FROM note WHERE level = "
               "'warning' AND text LIKE 'cannot link %'"), [{"notes": 1}], "without links")


def check_unfinished():
    folder = scratch()
    segments = unfinished(os.path.join(folder, "mine.db-segments"))
    before = os.listdir(segments)
    equal(len(before), 1, "an unfinished run", before)
    equal(record(folder)[0], ["mine-2.db", "mine.db-segments"], "beside an unfinished run")
    equal(os.listdir(segments), before, "an unfinished run's segments")


def main():
    need_shim()
    check_left_alone("a file", write)
    check_left_alone("a folder", os.mkdir)
    check_left_alone("a pipe", os.mkfifo)
    check_left_alone("a link to a file", lambda path: os.symlink(DRAIN, path))
    check_left_alone("a link to nothing", lambda path: os.symlink("/nonexistent/else", path))
    check_replaced()
    check_unfinished()
    if shutil.which("strace"):
        check_without_links()
    finish()


main()
