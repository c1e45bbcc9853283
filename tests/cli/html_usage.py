# SPDX-License-Identifier: Apache-2.0
"""Options of `html`, output to a terminal, and parts of a run; and the page says what is not sure of files."""
import os
import pty
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import html_file
import pages


def check_terminal(run):
    """`html` writes no page to a terminal, but says what to do instead."""
    main, side = pty.openpty()
    result = subprocess.run([t.REPORT, "html", run], stdin=subprocess.DEVNULL, stdout=side,
                            stderr=subprocess.PIPE, env=t.environment(preload=False), timeout=60)
    os.close(side)
    t.equal(result.returncode, 2, "html on a terminal")
    t.check(b"-o REPORT.html" in result.stderr and result.stderr.count(b"\n") == 1,
            "what to do", result.stderr)
    os.close(main)


def check_usage(folder):
    run = pages.lockstep(os.path.join(folder, "usage.db"))
    for arguments, words in ((["html", "--json", run], "--json does not go with dlprof-report html"),
                             (["import", "--redact", run], "--redact does not go with dlprof-report import"),
                             (["html"], "something is missing: dlprof-report html RUN.db"),
                             (["html", "-o", run, run, "-f"], "will not write over the run itself")):
        result = t.report(*arguments)
        t.equal((result.status, result.out), (2, ""), arguments)
        t.check(words in result.err and result.err.count("\n") == 1, arguments, result.err)
    t.equal(t.report("html", run, "-o", "/dev/full", "-f").status, 2, "a full disk")
    check_terminal(run)
    part = html_file.check_page(run, "part", "--batches", "40:70")[1]
    t.check("batches 40 to 70 of loader 1" in part, "--batches")


def check_bounds(folder):
    """The page says how much of a file's time is not sure, and omits files most of whose time is not."""
    path = pages.rundb.healthy(os.path.join(folder, "bounds.db"))
    with sqlite3.connect(path) as database:
        for kind in ("file", "folder"):
            pages.add_total(database, kind, "/data/known", ns=50_000_000)
            pages.add_total(database, kind, "/data/nearly", ns=40_000_000, error_ns=10_000_000)
            pages.add_total(database, kind, "/data/guessed", ns=90_000_000, error_ns=80_000_000)
            database.execute("INSERT INTO t_unlisted VALUES (?, 7000000)", (kind,))
    page, raw = html_file.check_page(path, "bounds")
    times = [[html_file.words_of(cell) for cell in row["inside"]] for row in page.all("tr")]
    times = [[row[0], row[-1].rstrip("/")] for row in times]
    for row in (["50.0 ms", "/data/known"], ["30.0 ms to 40.0 ms", "/data/nearly"]):
        t.equal(times.count(row), 2, "times of files and folders", times)
    said = t.report("-v", path).out
    for words in ("/data/known", "30.0 ms to 40.0 ms", "others took at most 7.00 ms each"):
        t.check(words in said, "the report", said)
    t.check("guessed" not in raw and "guessed" not in said, "a guess is shown")


def main():
    folder = t.scratch()
    check_usage(folder)
    check_bounds(folder)
    t.finish()


main()
