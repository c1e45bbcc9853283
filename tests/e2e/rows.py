# SPDX-License-Identifier: Apache-2.0
"""Rows of a JPEG that pass untimed: whose the time was is told as if each had been timed.

usage: rows.py LIBJPEG CALLER. The machine may be taken away anywhere. Where that is between two rows,
it is the caller's or the library's; from the first rows of an image, which tell how long the caller
takes, it must be taken out, but can be there twice: one of a few attempts must agree. What is counted,
and all of load(), must be right in each.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, rows, run, say, scratch, wait_for_drain)

ATTEMPTS = 5
TOLERANCE = 0.03
# As in rows_host.py, rows_jpeg.h, rows_caller.c.
IMAGES, ROWS, ROW_NS, GAP_NS, BROKEN = 30, 120, 10000, 5000, "1600"
TIMED = 17  # as in decode/rows.h: rows around the gaps that are measured


def attempt(folder):
    """The names of what did not agree."""
    database = os.path.join(folder, "run.db")
    file = os.path.join(folder, "file")
    with open(file, "wb") as content:
        content.write(bytes(1 << 20))
    done = run([PYTHON, os.path.join(HERE, "rows_host.py")] + sys.argv[1:] + [file],
               env=environment(DLPROF_OUT=database, DLPROF_DETAIL="batches"))
    equal(done.status, 0, "exit status", done.err[-2000:])
    wait_for_drain(database)
    told = json.loads(done.out)
    found = {row["width_class"]: row for row in rows(
        database, "SELECT * FROM decode WHERE library = 'libjpeg'")}
    wrong = []

    def agree(name, ours, least, most):
        say("{:13s} {:8.2f} ms, really {:8.2f} to {:8.2f} ms".format(name, ours / 1e6, least / 1e6,
                                                                    most / 1e6))
        if not least * (1 - TOLERANCE) < ours < most * (1 + TOLERANCE):
            wrong.append(name)

    whole = told.pop("load")
    for width, (rows_ns, gaps_ns, count, byte_count) in told.items():
        row = found.pop(1 << (int(width) - 1).bit_length())
        equal(row["count"], IMAGES, width, "count")
        equal(row["pixels"], IMAGES * int(width) * ROWS, width, "pixels")
        equal(row["bytes"], byte_count, width, "bytes")
        # Nobody knows how long the last rows took of an image that was given up.
        least = rows_ns if width != BROKEN else IMAGES * TIMED * ROW_NS
        agree("rows " + width, row["ns"], least, rows_ns + gaps_ns - count * GAP_NS)
    equal(found, {}, "of another width")
    parts = rows(database, "SELECT SUM(decode_ns) AS decode, SUM(read_ns) AS read FROM load")[0]
    check(parts["read"] > 0, "nothing was read")
    check(0.98 < (parts["decode"] + parts["read"]) / whole < 1.002, "all of load():", parts, whole)
    return wrong


def main():
    need_shim()
    need_torch()
    for left in reversed(range(ATTEMPTS)):
        wrong = attempt(scratch())
        if not wrong:
            break
        check(left, "does not agree:", wrong)
    finish()


main()
