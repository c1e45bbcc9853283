# SPDX-License-Identifier: Apache-2.0
"""CPU that a sample of Python stacks costs its reader, and how many stacks move while they are read.

Flat out and 20 times a second, when nothing is in the processor's caches any more; threads that
stand still 16 frames deep, and the worst: towers of calls that do nothing.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lines"))
import pythons  # noqa: E402
from dlprof_test import check, finish, say  # noqa: E402

STILL = """
import sys, threading, time
for i in range(16):
    exec("def down{}(n):\\n    return down{}(n - 1) if n else time.sleep(1000)\\n".format(i, (i + 1) % 16))
for i in range(int(sys.argv[1]) - 1):
    threading.Thread(target=down0, args=(12,), daemon=True).start()
print("{}", flush=True)
down0(14)
"""
TOWERS = """
for tower in "abcd":
    for i in range(9):
        inside = "{}{}(k) + 1".format(tower, i + 1) if i < 8 else "k"
        exec("def {}{}(k):\\n    return {}\\n".format(tower, i, inside))
print("{}", flush=True)
while True: a0(1); b0(1); c0(1); d0(1)
"""


def measure(command, text, arguments, *options):
    pythons.source = lambda name: text
    process = pythons.start(command, "", *arguments)
    pythons.told(process)
    _, end = pythons.sample(process.pid, "-q", *options)
    pythons.end(process)
    check(end["reason"] == "they are observed", command, end)
    return end


def main():
    for name, command in pythons.observed().items():
        costs = []
        for threads in ("1", "3"):
            flat = measure(command, STILL, [threads], "-n", 50000)
            slow = measure(command, STILL, [threads], "-n", 100, "-i", 50000)
            costs.append("{} thread(s) {:.1f} us, at 20 Hz {:.0f} us".format(
                threads, flat["sample_us"], slow["sample_us"]))
        moved = measure(command, TOWERS, [], "-n", 50000)
        say("{}: {}; to begin {:.0f} us; torn {:.1f} % of stacks that change all the time".format(
            name, "; ".join(costs), flat["open_us"], 100 * moved["torn"] / moved["stacks"]))
    finish()


main()
