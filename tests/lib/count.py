# SPDX-License-Identifier: Apache-2.0
"""Prints which tests of meson's testlog.json failed, which were skipped and why, and then
"N passed, N failed, N skipped". The exit status is 1 if a test failed or none passed.

usage: count.py [--failed] FIRST.json [SECOND.json]
--failed: prints only the names of the tests that failed. A test that failed in the first log and
passed in the second counts as passed, with a line that says so.
"""
import json
import sys

PASSED = ("OK", "EXPECTEDFAIL")
SKIPPED = ("SKIP", "IGNORED")


def tests(path):
    """Returns a log's tests as {suite and name: meson's entry}, since suites may share names."""
    try:
        with open(path, encoding="utf-8") as log:
            lines = [json.loads(line) for line in log]
    except OSError:
        lines = []
    return {line["name"]: line for line in lines}


def short(name):
    return name.split(" / ")[-1]


def results(path):
    """Returns the tests of a log as {suite and name: result}."""
    return {name: test["result"] for name, test in tests(path).items()}


def why_skipped(test):
    """Returns the last line of a skipped test's output; our tests begin it with SKIP."""
    lines = [line for line in test.get("stdout", "").splitlines() if line.strip()]
    said = [line[len("SKIP:"):].strip() for line in lines if line.startswith("SKIP:")] or lines
    return said[-1] if said else "it does not say why"


def has_failed(result):
    return result not in PASSED and result not in SKIPPED


def main():
    paths = [path for path in sys.argv[1:] if path != "--failed"]
    first = results(paths[0])
    if "--failed" in sys.argv:
        print(*sorted({short(name) for name, result in first.items() if has_failed(result)}))
        return
    last = dict(first)
    for path in paths[1:]:
        last.update((name, result) for name, result in results(path).items() if result in PASSED)
    passed = sum(result in PASSED for result in last.values())
    skipped = [name for name, result in last.items() if result in SKIPPED]
    failed = [name for name, result in last.items() if has_failed(result)]
    for name, result in first.items():
        if has_failed(result) and not has_failed(last[name]):
            print("{} at first, passed by itself: {}".format(result.lower(), short(name)))
    for name in failed:
        print("{}: {}".format(last[name].lower(), short(name)))
    accounts = tests(paths[0])
    for name in skipped:
        print("skipped: {}: {}".format(short(name), why_skipped(accounts[name])))
    print("{} passed, {} failed, {} skipped".format(passed, len(failed), len(skipped)))
    sys.exit(0 if passed and not failed else 1)


main()
