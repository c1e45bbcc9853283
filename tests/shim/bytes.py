# SPDX-License-Identifier: Apache-2.0
"""dlprof counts exactly the bytes of each data file that strace saw the kernel deliver."""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         rows, run, say, scratch, skip, wait_for_drain)

HERE = os.path.dirname(os.path.abspath(__file__))
# {system call: index of the parameter that is the descriptor of the file read}
CALLS = {"read": 0, "pread64": 0, "readv": 0, "preadv": 0, "preadv2": 0, "sendfile": 1,
         "copy_file_range": 0, "splice": 0}
LINE = re.compile(r"(?:\[pid +\d+\] )?(\w+)\((.*)\) += (\d+)$")
# strace -f prints a call in two lines when another thread calls something meanwhile.
CUT = re.compile(r"\[pid +(\d+)\] (.*) <unfinished \.\.\.>$")
REST = re.compile(r"\[pid +(\d+)\] <\.\.\. \w+ resumed>(.*)$")


def whole_lines(log):
    begun = {}
    for line in log.splitlines():
        line = re.sub(r"^(\d+) +", r"[pid \1] ", line)
        cut, rest = CUT.match(line), REST.match(line)
        if cut:
            begun[cut.group(1)] = cut.group(2)
        elif rest:
            yield begun.pop(rest.group(1), "") + rest.group(2)
        else:
            yield line


def can_trace():
    return any(os.access(os.path.join(place, "strace"), os.X_OK)
               for place in os.environ["PATH"].split(":"))


def by_strace(argv, folder):
    log = os.path.join(scratch(), "strace")
    done = run(["strace", "-f", "-y", "-s", "0", "-o", log, "-e", "trace=" + ",".join(CALLS)]
               + argv, env=environment(preload=False))
    if done.status and "ptrace" in done.err:
        skip("strace may not trace here")
    equal(done.status, 0, "status under strace", done.err[-2000:])
    found = collections.Counter()
    with open(log, errors="replace") as file:
        for line in whole_lines(file.read()):
            call = LINE.match(line)
            if call and call.group(1) in CALLS:
                paths = re.findall(r"\d+<(/[^>]*)>", call.group(2))
                path = paths[min(CALLS[call.group(1)], len(paths) - 1)] if paths else ""
                if path.startswith(folder + "/"):
                    found[os.path.basename(path)] += int(call.group(3))
    return found


def by_dlprof(argv, folder):
    database = os.path.join(scratch(), "run.db")
    done = run(argv, env=environment(DLPROF_OUT=database, DLPROF_ACTIVATE="always",
                                     DLPROF_DETAIL="batches", DLPROF_QUIET=1))
    equal(done.status, 0, "status under the preload", done.err[-2000:])
    wait_for_drain(database)
    found = collections.Counter()
    for row in rows(database, "SELECT path, SUM(bytes) AS bytes FROM file GROUP BY path"):
        if row["path"].startswith(folder + "/"):
            found[os.path.basename(row["path"])] += row["bytes"]
        else:  # dlprof counts no modules, nor tensors and messages between processes, as data
            equal(row["bytes"], 0, row["path"], "is not of the workloads")
    return found


def main():
    need_shim()
    need_torch()
    if not can_trace():
        skip("no strace")
    folder = os.path.realpath(scratch())
    make = "import sys; sys.path.insert(0, {!r}); import workloads; workloads.make({!r})"
    equal(run([PYTHON, "-c", make.format(HERE, folder)], env=environment(False)).status, 0,
          "data is made")
    argv = [PYTHON, "-W", "ignore", os.path.join(HERE, "workloads.py"), folder]
    expected, found = by_strace(argv, folder), by_dlprof(argv, folder)
    check(sum(expected.values()) > 5_000_000, "strace saw little", expected)
    for name in sorted(set(expected) | set(found)):
        equal(found[name], expected[name], name)
    for name in ("mapped", "memmap"):
        check(name in found, name, "a file that is only mapped is named, with no bytes")
    say(sum(expected.values()), "bytes of", len(expected), "files")
    finish()


if __name__ == "__main__":
    main()
