# SPDX-License-Identifier: Apache-2.0
"""What user code sees of itself, its exceptions and its images is the same with the preload.

The script prints types, names, callers, tracebacks, copies and checksums of pixels; compared to the
last letter. Without workers, with two, and with one that is spawned.
"""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         rows, run, say, scratch, wait_for_drain)

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "inside_seen.py")


def see(folder, workers, start, database=None):
    done = run([PYTHON, SCRIPT, folder, str(workers), start],
               env=environment(bool(database), DLPROF_OUT=database), timeout=300)
    equal(done.status, 0, "exit status", done.err[-2000:])
    # What workers print comes when it comes.
    lines = done.out.splitlines()
    return [line for line in lines if not line.startswith("worker ")] + sorted(
        line for line in lines if line.startswith("worker "))


def check_broken(database):
    """A truncated image is no image, and those after it are."""
    found = rows(database, "SELECT format, count, ns FROM decode")
    images = collections.Counter()
    for row in found:
        images.update({row["format"]: row["count"]} if row["count"] else {})
    # To libjpeg the truncated one is an image as soon as there are pixels.
    check(images["JPEG"] in (8, 9), "JPEG images", images)
    images["JPEG"] = 8
    equal(dict(images),
          {"JPEG": 8, "PNG": 8, "WebP": 8, "TIFF": 16, "BMP": 8}, "images that were decoded")
    check(all(row["ns"] > 0 for row in found), "a decoder took no time", found)
    check("WEBP" not in (row["format"] for row in found), "two spellings of WebP", found)


def main():
    need_torch()
    need_shim()
    folder = scratch()
    host = os.path.join(HERE, "inside_host.py")
    equal(run([PYTHON, host, "make", folder]).status, 0, "making images")
    for workers, start in ((0, "fork"), (2, "fork"), (1, "spawn")):
        name = "{} workers, {}:".format(workers, start)
        database = os.path.join(scratch(), "run.db")
        plain, ours = see(folder, workers, start), see(folder, workers, start, database)
        wait_for_drain(database)
        equal(len(ours), len(plain), name, "lines")
        for theirs, mine in zip(plain, ours):
            if not equal(mine, theirs, name):
                break
        check(len(plain) > 10, name, "the script says little:", len(plain), "lines")
        say(name, len(plain), "lines compared")
        if start == "fork":
            check_broken(database)
    finish()


main()
