# SPDX-License-Identifier: Apache-2.0
"""DLPROF_BATCH_FN beside a known loader: each batch once, and under which loader it is recorded."""
import ast
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import programs  # noqa: E402
from dlprof_test import equal, finish, need_shim, rows  # noqa: E402
from loops import epochs_of  # noqa: E402

NAMES = ("inside", "around", "beside", "beside_counted", "a_row")


def main():
    need_shim()
    for name in NAMES:
        with open(programs.path_of("named_" + name)) as file:
            value, expected = re.search(r"^# (\S+:\S+) (\{.*\})$", file.read(), re.M).groups()
        _, database = programs.record("named_" + name, DLPROF_BATCH_FN=value)
        kinds = {row["loader_id"]: row["kind"] for row in rows(database, "SELECT * FROM loader")}
        found = {}
        for loader, epochs in zip(sorted(kinds), epochs_of(database)):
            found.setdefault(kinds[loader], []).append(epochs)
        equal(found, ast.literal_eval(expected), "DLPROF_BATCH_FN,", name)
    finish()


main()
