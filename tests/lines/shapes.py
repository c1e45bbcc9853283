# SPDX-License-Identifier: Apache-2.0
"""Every shape of stack, on every CPython that is found: file, function and line as it says itself.

TEST_PYTHONS="chroot FOLDER python3.14:/opt/python3.15" adds interpreters.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pythons  # noqa: E402
from dlprof_test import check, equal, finish, say, skip  # noqa: E402

MOST = 64  # frames


def check_shapes(name, pid, threads):
    """In portions of as many threads as a sample has stacks of."""
    for at in range(0, len(threads), 16):
        some = threads[at:at + 16]
        tids = [word for _, tid, _ in some for word in ("-t", tid)]
        (found,), end = pythons.sample(pid, *tids)
        equal(end["reason"], "they are observed", name)
        by_tid = {thread["tid"]: thread for thread in found}
        for shape, tid, stack in some:
            thread = by_tid.get(tid, {})
            equal(thread.get("stack"), stack[:MOST], name, shape)
            equal((thread.get("torn"), thread.get("cut")), (0, int(len(stack) > MOST)), name, shape,
                  "torn and cut")
            equal(thread.get("gil"), 0, name, shape, "has the lock while it sleeps")


def check_child(name, pid, line):
    (found,), end = pythons.sample(pid)
    equal(end["reason"], "they are observed", name, "the fork")
    equal([thread["tid"] for thread in found], [pid], name, "threads of the fork")
    equal([frame[1] for frame in found[0]["stack"]], ["fork", "main", "<module>"], name, "of the fork")
    equal(found[0]["stack"][0][2], line + 6, name, "line of the fork")


def check_lock(name, process):
    """The thread that computes has the lock; at times, while it is handed over, nobody."""
    process.stdin.write(b"spin\n")
    process.stdin.flush()
    spinner = pythons.told(process)["tid"]
    samples, _ = pythons.sample(process.pid, "-n", 500, "-i", 1000, "-t", spinner)
    holders = [thread for found in samples for thread in found if thread["gil"]]
    own = [thread for thread in holders if thread["tid"] == spinner]
    check(len(own) >= 0.9 * len(samples) and len(own) >= 0.98 * len(holders), name,
          "holders of the lock", len(own), len(holders), len(samples))
    tops = [thread["stack"][0][1] for found in samples for thread in found
            if thread["tid"] == spinner and thread.get("stack")]
    equal((len(tops), set(tops)), (len(samples), {"spin"}), name, "the thread that computes")


def check_one(name, command):
    process = pythons.start(command, "shapes_host.py")
    truth = pythons.told(process)
    if truth:
        # A command may start another program, which is then its child.
        check_shapes(name, process.pid, truth["threads"])
        check_child(name, truth["child"], truth["fork_line"])
        check_lock(name, process)
        process.stdin.write(b"end\n")
        process.stdin.flush()
        process.wait(10)
    pythons.end(process)


def main():
    found = pythons.observed()
    if not found:
        skip("no CPython 3.8 to 3.15")
    for name, command in found.items():
        say(name)
        check_one(name, command)
    finish()


main()
