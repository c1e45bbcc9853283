# SPDX-License-Identifier: Apache-2.0
"""Prints "N passed, N failed, N skipped" of meson's testlog.json; status 1 if that is no success.

usage: count.py build/meson-logs/testlog.json
"""
import json
import sys

PASSED = ("OK", "EXPECTEDFAIL")
SKIPPED = ("SKIP", "IGNORED")


def main():
    try:
        with open(sys.argv[1], encoding="utf-8") as log:
            results = [(json.loads(line)["name"], json.loads(line)["result"]) for line in log]
    except OSError:
        results = []
    passed = sum(result in PASSED for _, result in results)
    skipped = [name for name, result in results if result in SKIPPED]
    failed = [(name, result) for name, result in results
              if result not in PASSED and result not in SKIPPED]
    for name, result in failed:
        print("{}: {}".format(result.lower(), name))
    if skipped:
        print("skipped:", ", ".join(skipped))
    print("{} passed, {} failed, {} skipped".format(passed, len(failed), len(skipped)))
    sys.exit(0 if passed and not failed else 1)


main()
