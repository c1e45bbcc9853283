# SPDX-License-Identifier: Apache-2.0
"""Libraries as users have them, from PyPI: every decoder is seen, and its time is what it took.

tests/run.sh makes a virtual environment of wheels.txt over the installed PyTorch. TEST_VENV names
another one, with torch and torchvision of PyPI as well, which are too large to fetch for a test.
"""
import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import pypi
from dlprof_test import (check, environment, equal, finish, need_shim, rows, run, say,  # noqa
                         scratch, wait_for_drain)

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wheels_host.py")
# What the script calls -> who may say that it was decoded: the call, or a library that it calls.
LIBRARIES = {
    ("Pillow", "OpenCV"): ("Pillow", "OpenCV", "libjpeg", "turbojpeg", "libpng"),
    ("h5py",): ("h5py",),
    ("soundfile",): ("soundfile", "libsndfile"),
    ("torchvision",): ("torchvision",),
    ("libheif",): ("libheif",),
    ("zarr",): ("zarr",),
}
# Functions of modules are timed in workers only. Without, what their libraries export is seen: of
# Pillow's and OpenCV's three calls the two that decode with a libjpeg and a libpng in reach.
ALONE = {("Pillow", "OpenCV"): 2, ("torchvision",): 0}
SYSTEM = ("torch", "torchvision", "numpy")  # may be the system's own
STEPS = ("Turn", "Stamped")
TOLERANCE = 0.05
SLACK_NS = 60_000_000  # the CPU taken away between the two clocks, once or twice
OF_SUBSET = 1  # of the samples


def host(python, arguments, database=None):
    done = run([python, HOST] + arguments, timeout=300,
               env=environment(bool(database), DLPROF_OUT=database,
                               NO_ALBUMENTATIONS_UPDATE=1))  # which it would look for in the network
    equal(done.status, 0, arguments, "exit status", done.err[-2000:])
    return json.loads(done.out) if done.out else {"parts": {}, "digests": []}


def check_part(name, count, ns, told):
    calls, expected = told
    say("{:14s} {:8.2f} ms in {} calls, the script's {:8.2f} ms in {}".format(
        name, ns / 1e6, count, expected / 1e6, calls))
    equal(count, calls, name, "operations")
    check(ns > 0, name, "took no time")
    check(ns >= (1 - TOLERANCE) * expected - SLACK_NS, name, "too little", ns, expected)
    check(ns <= (1 + TOLERANCE) * expected + SLACK_NS, name, "too much", ns, expected)


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
    found = rows(database, "SELECT library, UPPER(format) AS format, width_class, count, ns FROM "
                           "decode")
    for callers, names in LIBRARIES.items():
        if callers[0] not in ours["parts"]:
            say("not tried: {} has no decoder of its own".format(callers[0]))
            continue
        told = [sum(ours["parts"][name][i] for name in callers) for i in (0, 1)]
        some = [row for row in found if row["library"] in names]
        # A sound file is one to libsndfile, which opens it, and one to soundfile, which reads it.
        count = max if callers == ("soundfile",) else sum
        if not workers and callers in ALONE:
            equal(sum(row["count"] for row in some), ALONE[callers] * samples,
                  "+".join(callers), "operations, in the main process")
            continue
        check_part("+".join(callers), count([row["count"] for row in some] or [0]),
                   sum(row["ns"] for row in some), told)
    images = collections.Counter()
    for row in found:
        images[row["format"], row["width_class"]] += row["count"]
    equal({key: images[key] for key in (("JPEG", 1024), ("PNG", 1024), ("GIF", 1024))},
          {("JPEG", 1024): (2 if workers else 1) * samples,
           ("PNG", 1024): samples,
           ("GIF", 1024): samples if workers and "torchvision" in ours["parts"] else 0},
          "images by format and width")
    steps = {row["name"]: row for row in rows(database, "SELECT * FROM step")}
    for name in STEPS:
        if check(name in steps, arguments, name, "was not seen", list(steps)):
            check_part(name, steps[name]["count"], steps[name]["ns"], ours["parts"][name])
    # The Subset's samples come by __getitems__, one call for its one batch.
    equal(steps["Everything"]["count"], samples - OF_SUBSET, "samples")
    equal(steps["Subset"]["count"], 1, "batches of the Subset")
    # Whoever reads, zarr's threads too, does it in a load. A spawned worker reads more names before
    # than are kept.
    read = rows(database, "SELECT (SELECT SUM(read_bytes) FROM load) AS loads, "
                          "(SELECT SUM(bytes) FROM file) AS files")[0]
    if start == "fork":
        equal(read["loads"], read["files"], arguments, "bytes of loads, and of files")
    zero = rows(database, "SELECT * FROM load WHERE decode_ns IS NULL OR decode_ns = 0")
    equal(zero, [], arguments, "loads without decode time")


def main():
    venv = os.path.abspath(pypi.need("venv", "TEST_VENV"))
    need_shim()
    python = os.path.join(venv, "bin", "python")
    folder = scratch()
    for name, (version, path) in host(python, ["make", folder]).items():
        say(name, version, path)
        check(name in SYSTEM or path.startswith(venv), name, "is not the wheel's:", path)
    for workers, start in ((0, "fork"), (2, "fork"), (1, "spawn")):
        check_case(python, folder, workers, start)
    finish()


main()
