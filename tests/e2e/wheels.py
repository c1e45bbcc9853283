# SPDX-License-Identifier: Apache-2.0
"""Libraries as users have them, from PyPI: every decoder is seen, and its time is what it took.

TEST_VENV names a virtual environment with torch, torchvision, pillow, opencv-python-headless, h5py,
soundfile and albumentations; without it there is nothing to test.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, environment, equal, finish, need_shim, rows, run, say,  # noqa
                         scratch, skip, wait_for_drain)

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wheels_host.py")
LIBRARIES = ("Pillow", "OpenCV", "h5py", "soundfile", "torchvision")
STEPS = ("Turn", "Stamped")
TOLERANCE = 0.05
SLACK_NS = 60_000_000  # the CPU taken away between the two clocks, once or twice
EXTRA = 1  # one sample more, of the Subset, which the script does not stamp


def host(python, arguments, database=None):
    done = run([python, HOST] + arguments, timeout=300,
               env=environment(bool(database), DLPROF_OUT=database))
    equal(done.status, 0, arguments, "exit status", done.err[-2000:])
    return json.loads(done.out) if done.out else {"parts": {}, "digests": []}


def check_part(name, count, ns, told, each):
    calls, expected = told
    share = (calls + EXTRA * each) / calls
    say("{:12s} {:8.2f} ms in {} calls, the script's {:8.2f} ms in {}".format(
        name, ns / 1e6, count, expected / 1e6, calls))
    equal(count, calls + EXTRA * each, name, "operations")
    check(ns > 0, name, "took no time")
    check(ns >= (1 - TOLERANCE) * expected - SLACK_NS, name, "too little", ns, expected)
    check(ns <= (1 + TOLERANCE) * expected * share + SLACK_NS, name, "too much", ns, expected)


def check_case(python, folder, workers, start):
    arguments = [folder, str(workers), start]
    database = os.path.join(scratch(), "run.db")
    ours = host(python, arguments, database)
    wait_for_drain(database)
    plain = host(python, arguments)
    say(workers, "workers,", start)
    equal(ours["digests"], plain["digests"], arguments, "what was decoded")
    equal(ours["pickled"], plain["pickled"], arguments, "cv2.imread, pickled")
    samples = len(plain["digests"])
    found = rows(database, "SELECT library, SUM(count) AS count, SUM(ns) AS ns, MAX(width_class) "
                           "AS width FROM decode GROUP BY library")
    found = {row["library"]: row for row in found}
    for name in LIBRARIES:
        if check(name in found, arguments, name, "was not seen"):
            told = ours["parts"][name]
            check_part(name, found[name]["count"], found[name]["ns"], told, told[0] // samples)
    for name in ("Pillow", "OpenCV", "torchvision"):
        equal(found[name]["width"], 1024, name, "width class")
    formats = {(row["library"], row["format"]) for row in rows(database, "SELECT * FROM decode")}
    check({("Pillow", "JPEG"), ("OpenCV", "PNG"), ("OpenCV", "JPEG"),
           ("torchvision", "GIF")} <= formats, "formats", formats)
    steps = {row["name"]: row for row in rows(database, "SELECT * FROM step")}
    for name in STEPS:
        if check(name in steps, arguments, name, "was not seen", list(steps)):
            check_part(name, steps[name]["count"], steps[name]["ns"], ours["parts"][name], 1)
    # The Subset's samples come by __getitems__, one call for its one batch.
    equal(steps["Everything"]["count"], samples, "samples")
    equal(steps["Subset"]["count"], 1, "batches of the Subset")
    zero = rows(database, "SELECT * FROM load WHERE decode_ns IS NULL OR decode_ns = 0")
    equal(zero, [], arguments, "loads without decode time")


def main():
    venv = os.environ.get("TEST_VENV")
    if not venv:
        skip("TEST_VENV is not set")
    need_shim()
    python = os.path.join(venv, "bin", "python")
    folder = scratch()
    host(python, ["make", folder])
    for workers, start in ((0, "fork"), (2, "fork"), (1, "spawn")):
        check_case(python, folder, workers, start)
    finish()


main()
