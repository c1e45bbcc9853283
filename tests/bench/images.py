# SPDX-License-Identifier: Apache-2.0
"""What format and size cost, as dlprof reports it next to the script's own clock.

usage: images.py STAMPS [KIND...], where STAMPS is the library of stamps.c. TEST_IMAGES (2000) of each
kind, TEST_ROUNDS (3), medians. Prints a table for the README: per image, ours, and in brackets by how
much the script's stamps differ.

The stamps of decode, crop, to tensor and collate are Python's, around those calls. Those of read lie
in the C library, around each open(), read() and close() of an image as dlprof passes it on: nothing of
the interpreter is between them, nor of dlprof. What a pair of them costs beyond what it measures, and
dlprof takes for a part of the call, is found with nothing in between and added to each. The sizes are
known before.
"""
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, SHIM, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         rows, run, say, scratch, wait_for_drain)

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images_host.py")
STAMPS = os.path.abspath(sys.argv[1])
COUNT = int(os.environ.get("TEST_IMAGES", "2000"))
ROUNDS = int(os.environ.get("TEST_ROUNDS", "3"))
KINDS = {"jpg224": "JPEG 224", "png224": "PNG 224", "jpg768": "JPEG 768", "png768": "PNG 768",
         "npy224": ".npy tensor 224", "pt224": ".pt tensor 224"}
KINDS = {kind: name for kind, name in KINDS.items() if kind in (sys.argv[2:] or KINDS)}
PARTS = ("decode", "read", "Crop", "Tensor", "collate")


def measure(folder, kind):
    """(images/s, {part: (ours, the script's)} in ns)."""
    database = os.path.join(scratch(), "run.db")
    done = run([PYTHON, HOST, folder, kind, str(COUNT)],
               env=environment(DLPROF_OUT=database, DLPROF_QUIET="1",
                               LD_PRELOAD=SHIM + " " + STAMPS), timeout=600)
    equal(done.status, 0, kind, done.err[-2000:])
    wait_for_drain(database)
    told = json.loads(done.out)
    ours = rows(database, "SELECT SUM(open_ns + read_ns) AS read, SUM(decode_ns) AS decode, "
                          "SUM(collate_ns) AS \"collate\" FROM load")[0]
    ours.update({row["name"]: row["ns"] for row in rows(database, "SELECT name, ns FROM step")})
    return COUNT / told["all"] * 1e9, {part: (ours.get(part) or 0, told[part])
                                       for part in PARTS if part in told}


def cell(results, part):
    """The median, and the median difference."""
    pairs = [parts[part] for _, parts in results if part in parts]
    if not pairs:
        return "-"
    ours = statistics.median(mine for mine, _ in pairs) / COUNT / 1e3
    error = statistics.median(mine / theirs - 1 for mine, theirs in pairs)
    return "{:.0f} µs ({:+.1f} %)".format(ours, 100 * error) if ours >= 10 else \
        "{:.1f} µs ({:+.1f} %)".format(ours, 100 * error)


def main():
    need_torch()
    need_shim()
    folder = scratch()
    equal(run([PYTHON, HOST, "make", folder], env=environment(False), timeout=300).status, 0, "making images")
    found = {kind: [] for kind in KINDS}
    for _ in range(ROUNDS):  # the kinds in turn, so that the machine's moods hit all
        for kind in KINDS:
            found[kind].append(measure(folder, kind))
    say("| {} images each | images/s | {} |".format(COUNT, " | ".join(PARTS)))
    say("| --- |" + " --- |" * (len(PARTS) + 1))
    for kind, name in KINDS.items():
        rate = statistics.median(rate for rate, _ in found[kind])
        say("| {} | {:.0f} | {} |".format(name, rate, " | ".join(cell(found[kind], part)
                                                               for part in PARTS)))
        for part in ("decode", "Crop", "Tensor"):
            for _, parts in found[kind]:
                check(part not in parts or parts[part][0] > 0, name, part, "was not seen")
    finish()


main()
