# SPDX-License-Identifier: Apache-2.0
"""Starts the programs `dlprof` and `dlprof-report`; `python -m dlprof` is `dlprof` with this Python."""
import os
import sys

from dlprof import PROGRAMS

# Options of `dlprof run` and `dlprof tune` whose value is the next word.
_WITH_VALUE = {"-o", "--output", "--detail", "--slow-us", "--batch-fn", "--cuda", "--segment-dir",
               "--log", "--set", "--stop-after", "--library", "--batches",
               "--rounds", "--max-time"}


def _become(name, arguments):
    path = os.path.join(PROGRAMS, name)
    try:
        os.execv(path, [name] + arguments)
    except OSError as error:
        sys.exit("dlprof: cannot run '{}': {}; install the package anew".format(
            path, error.strerror))


def with_interpreter(arguments):
    """Inserts this Python before `-m package.train` or `train.py` in the arguments of `run`."""
    if arguments[:1] not in (["run"], ["tune"]):
        return arguments
    at = 1
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "-m":
        if arguments[at] == "--":
            return arguments
        at += 2 if arguments[at] in _WITH_VALUE else 1
    if at < len(arguments) and (arguments[at] == "-m" or arguments[at].endswith(".py")):
        return arguments[:at] + ["--", sys.executable] + arguments[at:]
    return arguments


def main():
    _become("dlprof", sys.argv[1:])


def report():
    _become("dlprof-report", sys.argv[1:])


if __name__ == "__main__":
    _become("dlprof", with_interpreter(sys.argv[1:]))
