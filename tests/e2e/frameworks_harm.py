# SPDX-License-Identifier: Apache-2.0
"""A program's forks and the exceptions of its signal handlers are what they are without us."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import programs  # noqa: E402
from dlprof_test import check, finish, need_shim, rows  # noqa: E402


def main():
    need_shim()
    _, database = programs.record("forked", DLPROF_BATCH_FN="home:pages")
    check(database and len(rows(database, "SELECT 1 FROM epoch")) > 100, "forked, epochs")
    _, database = programs.record("alarms")
    check(database and rows(database, "SELECT 1 FROM batch LIMIT 1"), "alarms, no batch")
    finish()


main()
