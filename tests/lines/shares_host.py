# SPDX-License-Identifier: Apache-2.0
"""Spends 60, 30 and 10 % of its time in three functions, and says how much it really was.

They are of the kinds that a sampler may mistake: one call into C, many small calls, and Python
without calls. usage: ... SECONDS
"""
import json
import random
import sys
import threading
import time


def small(x):
    return x + 1


def smaller(x):
    return small(x) + 1


def in_c(until):
    while time.perf_counter() < until:
        sum(range(20000))


def calls(until):
    while time.perf_counter() < until:
        for i in range(300):
            smaller(i)


def plain(until):
    while time.perf_counter() < until:
        x = 0
        for i in range(3000):
            x += i * i


def main():
    spent = {"in_c": 0, "calls": 0, "plain": 0}
    shares = [(in_c, 0.6), (calls, 0.3), (plain, 0.1)]
    print(json.dumps({"tid": threading.get_native_id()}), flush=True)
    outside()
    end = time.perf_counter() + float(sys.argv[1])
    while time.perf_counter() < end:
        for function, share in shares:
            begin = time.perf_counter()
            function(begin + share * random.uniform(0.02, 0.06))
            spent[function.__name__] += time.perf_counter() - begin
    print(json.dumps(spent), flush=True)
    outside()


def outside():
    """Whatever is sampled here is before or after the phases."""
    sys.stdin.readline()


main()
