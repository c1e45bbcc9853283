# SPDX-License-Identifier: Apache-2.0
"""Checks that the shim holds no lock while it calls libcupti, and takes none in CUPTI's callbacks.

usage: locks.py [ROOT]: checks another tree, in which a fault was planted to see it found. CUPTI holds locks of its
own both when it calls back and when it is called, so a lock of ours could deadlock. The check reads only the sources:
which function names which. So no function that takes a lock may lead to libcupti, and no callback to a lock.
"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test  # noqa: E402
from dlprof_test import check, finish, say  # noqa: E402

ROOT = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else dlprof_test.ROOT
LOCK = re.compile(r"(\w+_)?(lock|trylock|mutex_lock)$")
CUPTI = re.compile(r"\b(?:cupti\.|real\.cupti)\w+\s*\(")
CALLBACKS = ("activity_request", "activity_complete", "request_theirs", "complete_theirs",
             "share_with_them")
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
FUNCTION = re.compile(r"^(?P<head>[a-zA-Z_][^;{}#]*?\b(?P<name>\w+)\((?:[^;{}]*)\))\s*\n\{\n"
                      r"(?P<body>.*?)^\}", re.M | re.S)


class Function:
    def __init__(self, path, match):
        self.file, self.name = os.path.relpath(path, ROOT), match.group("name")
        self.local = re.match(r"(static|.*\bstatic\b)", match.group("head").split("(")[0]) is not None
        # All names count, not only calls: a function that is passed on may be called elsewhere.
        self.names = set(re.findall(r"\b[a-zA-Z_]\w*", match.group("body")))
        self.calls_cupti = CUPTI.search(match.group("body")) is not None
        self.locks = any(LOCK.match(name) for name in
                         re.findall(r"\b(\w+)\s*\(", match.group("body")))


def read():
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, "shim", "**", "*.c"), recursive=True)):
        with open(path) as file:
            text = COMMENT.sub(" ", file.read())
        found += [Function(path, match) for match in FUNCTION.finditer(text)]
    return found


def reach(function, functions):
    """Returns all functions that `function` may call, however indirectly: {called: caller}."""
    found, queue = {function: None}, [function]
    while queue:
        at = queue.pop()
        for other in functions:
            if other.name in at.names and other not in found and \
                    (not other.local or other.file == at.file):
                found[other] = at
                queue.append(other)
    return found


def way(found, function):
    steps = []
    while function:
        steps.append("{}:{}".format(function.file, function.name))
        function = found[function]
    return " <- ".join(steps)


def main():
    functions = read()
    lockers = [function for function in functions if function.locks]
    callers = [function for function in functions if function.calls_cupti]
    callbacks = [function for function in functions if function.name in CALLBACKS]
    say("{} functions, {} take a lock, {} call libcupti".format(len(functions), len(lockers),
                                                               len(callers)))
    # With fewer functions, the pattern FUNCTION would no longer fit the sources.
    check(len(functions) > 500, "functions", len(functions))
    check({"shim/slots/got.c", "shim/python/loaders/tfdata.c"} <= {one.file for one in lockers}, "lockers")
    check({"shim/cuda/activity.c", "shim/cuda/attach.c", "shim/cuda/manners.c"} <=
          {one.file for one in callers}, "callers")
    check(len(callbacks) == len(CALLBACKS), "callbacks", [one.name for one in callbacks])
    for locker in lockers:
        found = reach(locker, functions)
        for function in callers:
            check(function not in found, "with a lock:",
                  way(found, function) if function in found else "")
    for callback in callbacks:
        found = reach(callback, functions)
        for function in lockers:
            check(function not in found, "in a callback:",
                  way(found, function) if function in found else "")
    finish()


main()
