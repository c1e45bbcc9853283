# SPDX-License-Identifier: Apache-2.0
"""Waits for the interpreter beside a thread that holds it, and says for which share of the time.

usage: ... SECONDS
"""
import json
import sys
import threading
import time
import zlib

BYTES = bytes(100 << 20)


def wants(until):
    """Each sleep of 1 ms ends when the other thread gives up the interpreter."""
    waited = 0
    while time.perf_counter() < until:
        begin = time.perf_counter()
        time.sleep(0.001)
        waited += max(0, time.perf_counter() - begin - 0.001)
    return waited


def needs_not(until):
    """zlib computes without the interpreter, for far longer than the other thread holds it."""
    while time.perf_counter() < until:
        zlib.crc32(BYTES)


def holds():
    """sum() does not look whether another thread wants the interpreter."""
    while True:
        sum(range(300000))


def main():
    print(json.dumps({"tid": threading.get_native_id()}), flush=True)
    sys.stdin.readline()
    length = float(sys.argv[1]) / 2
    threading.Thread(target=holds, daemon=True).start()
    begin = time.perf_counter()
    share = wants(begin + length) / (time.perf_counter() - begin)
    needs_not(time.perf_counter() + length)
    print(json.dumps({"wants": share}), flush=True)


main()
