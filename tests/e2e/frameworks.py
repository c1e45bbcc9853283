# SPDX-License-Identifier: Apache-2.0
"""Loaders other than PyTorch's, with no environment at all: each row of loaders.def.

Each program of frameworks/ that begins with "# kind: [batches of each epoch of each loader]" prints
"begin end" of its own waits; the rows must be those, each batch once, whatever asks whatever
inside, and everything else that a program prints must be what it prints without us.
"""
import ast
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test  # noqa: E402
import programs  # noqa: E402
from dlprof_test import (PYTHON, ROOT, check, equal, finish, least, need_shim, rows, say,  # noqa
                         spread)
from loops import epochs_of  # noqa: E402

WAIT_TOLERANCE_NS = 1_000_000
ATTEMPTS = 3
LOADING = "mxnet.gluon", "paddle.io"  # their loads are recorded, too: frameworks_loads.py
AHEAD = "keras_jax_ahead"  # its waits are not the script's


def cases():
    for path in sorted(glob.glob(programs.path_of("*"))):
        with open(path) as file:
            found = re.search(r"^# ([\w.]+): (\[.*\])(?: \* (\d+))?$", file.read(), re.M)
        if found:
            kind, expected, times = found.groups()
            yield os.path.basename(path)[:-3], kind, ast.literal_eval(expected) * int(times or 1)


def compare(name, kind, expected, python=PYTHON):
    best = {}
    for _ in range(ATTEMPTS):
        truth, database = programs.record(name, python)
        if kind == "nothing":
            equal(database, None, name, "nothing was asked, and it was recorded")
            return
        if not check(database, name, "no database"):
            return
        equal(epochs_of(database), expected, name, "batches of each epoch")
        for loader in rows(database, "SELECT * FROM loader"):
            equal(loader["kind"], kind, name)
            if kind not in LOADING:
                equal((loader["workers"], loader["in_order"]), (None, None), name)
        found = rows(database, "SELECT begin_ns, wait_ns, load_ns FROM batch ORDER BY begin_ns")
        if kind not in LOADING:
            equal([row["load_ns"] for row in found], [None] * len(found), name, "loads")
        # DALI's first batch was fetched before it was asked for; what is zipped is one to the
        # script.
        if len(found) != len(truth) or kind == "DALI":
            return
        waits = [end - begin - row["wait_ns"] for row, (begin, end) in
                 list(zip(found, truth))[1:]]
        least(best, enumerate(waits))
        errors = sorted(best.values())
        if name != AHEAD:
            check(all(begin <= row["begin_ns"] and row["begin_ns"] + row["wait_ns"] <= end
                      for row, (begin, end) in zip(found, truth)), name, "waits within the script's")
        say(name, "wait error, ms, median / 99 % / max:", spread(waits, 1e6))
        # The first wait of the program begins the recording: its own stamps have that in them.
        if name == AHEAD or not waits or errors[len(waits) * 3 // 4] <= WAIT_TOLERANCE_NS or \
                dlprof_test.failure_count():
            return
    check(False, name, "a wait in four differs by", errors[len(errors) * 3 // 4], "ns or more")


def check_rows():
    """No row is without a case."""
    with open(os.path.join(ROOT, "shim", "python", "loaders", "loaders.def")) as file:
        text = file.read()
    text = text.replace("TF_ITERATORS", '"tensorflow.python.data.ops.iterator_ops"')
    points = {"{}:{}.{}".format(*row) for row in
              re.findall(r'^LOADER\(\w+, "[^"]+", "([^"]+)", "([^"]+)", "([^"]+)"', text, re.M)}
    check(len(points) >= 20, "rows of loaders.def", points)
    programs.record("steps")  # Keras' own rows
    equal(points - programs.patch_points, set(), "rows that no case has patched")


def main():
    need_shim()
    known = {}
    for name, kind, expected in cases():
        known[name] = kind, expected
        compare(name, kind, expected)
    check(len(known) > 30, "cases", sorted(known))
    check_rows()
    root = os.environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    for version in ("3.8", "3.13", "3.14"):  # the oldest and the newest
        for python in glob.glob(os.path.join(root, "versions", version + ".*", "bin", "python3")):
            if subprocess.run([python, "-c", ""]).returncode == 0:
                for name in ("tf_data", "gluon_loader"):
                    compare(name, *known[name], python)
    finish()


main()
