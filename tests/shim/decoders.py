# SPDX-License-Identifier: Apache-2.0
"""dlprof records library, format, width class, images, pixels and bytes of the installed decode libraries.

Their results are the same as without the preload, which decoders_host.py asserts. Failed images do not count.
"""
import concurrent.futures
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, rows, run, say, scratch, wait_for_drain)

GROUPS = ("jpeg", "in_turns", "corrupt_jpeg", "webp", "tiff", "png", "torch", "packed", "unpacked",
          "turbo", "video", "film", "sound", "deflate", "charls", "jxl")
LIBRARIES = ("libjpeg", "libpng", "libwebp", "libtiff", "zlib", "zstd", "lz4", "turbojpeg",
             "libavcodec", "libavformat", "libswresample", "libsndfile", "libdeflate", "CharLS",
             "libjxl", "bzip2", "liblzma")


def observe(group):
    database = os.path.join(scratch(), "run.db")
    argv = [PYTHON, os.path.join(HERE, "decoders_host.py"), group]
    done = run(argv, env=environment(DLPROF_ACTIVATE="always", DLPROF_QUIET="1",
                                     DLPROF_OUT=database))
    wait_for_drain(database)
    return group, done, database


def check_group(group, done, database):
    if not equal(done.status, 0, group, "exit status", done.err[-2000:]):
        return
    expected = json.loads(done.out.splitlines()[-1])
    if expected is None:
        say(group, "is not installed")
        return
    found = {(row["library"], row["format"], row["width_class"]): row for row in rows(
        database, "SELECT * FROM decode WHERE library IN ({})".format(
            ",".join("'{}'".format(name) for name in LIBRARIES)))}
    for library, kind, width_class, count, pixels, size in expected:
        row = found.pop((library, kind, width_class), None)
        name = "{}: {} {} {}:".format(group, library, kind, width_class)
        if not check(row, name, "is missing; there are", sorted(found)):
            continue
        equal(row["count"], count, name, "count")
        equal(row["pixels"], pixels, name, "pixels")
        check(row["ns"] > 0 and row["slowest_ns"] > 0, name, "took no time")
        if size is not None:
            equal(row["bytes"], size, name, "bytes")
        say(name, row["count"], "in", row["ns"] // 1000, "us")
    if group == "in_turns":
        equal(rows(database, "SELECT COUNT(load_ns) AS count FROM batch"), [{"count": 1}], group, "loads")
    # Python's start and imports may unpack files by zlib.
    found.pop(("zlib", "deflate", 0), None)
    equal(sorted(key for key, row in found.items() if row["count"]), [], group,
          "was seen, and is not there")


def main():
    need_shim()
    need_torch()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for result in pool.map(observe, GROUPS):
            check_group(*result)
    finish()


main()
