# SPDX-License-Identifier: Apache-2.0
"""CPython's own tests, one by one, under the preload: each ends as it does without.

usage: cpython.py VERSION. Nothing tests a process's descriptors, signals, errno, children and
streams harder. Skips where no such CPython has its tests: pyenv's have, Debian's are a package.

The default is a few quick modules. TEST_CPYTHON=full: all that touch what a preload can break,
some minutes for each version. TEST_CPYTHON=test_x,test_y: those.
"""
import glob
import os
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (check, databases, environment, equal, finish, need_shim, rows,  # noqa
                         run, say, scratch, skip, wait_for_drain)

QUICK = """test_posix test_fcntl test_file test_fileio test_epoll test_tempfile test_mmap test_pty
    test_eintr test_popen""".split()
FULL = QUICK + """test_os test_subprocess test_io test_signal test_threading test_socket test_ssl
    test_select test_poll test_selectors test_fork1 test_wait3 test_wait4 test_ctypes test_atexit
    test_audit test_thread test_threadsignals""".split()
# In modules of their own, or too long as a whole.
PARTS = {
    ("test_multiprocessing_fork", "test_multiprocessing_spawn"): [
        "WithProcessesTestProcess", "WithProcessesTestQueue", "TestStdinBadfiledescriptor"],
}
# On some machines they never end, with us and without.
HANGS = ("test_print_exception_gh_102056", "*VSOCK*")
WAYS = {"default": {}, "recording": {"DLPROF_ACTIVATE": "always", "DLPROF_QUIET": 1}}


def find(version):
    root = os.environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    pythons = sorted(glob.glob(os.path.join(root, "versions", version + ".*", "bin", "python3")))
    for python in pythons + ["/usr/bin/python" + version]:
        has = [python, "-c", "import test.test_fileio, test.libregrtest"]
        if os.path.exists(python) and not subprocess.run(has, stderr=subprocess.DEVNULL).returncode:
            return python
    return None


def outcomes(path):
    """{name of a test: what it ended as}; a test that has subtests ends more than once."""
    result = {}
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        ends = sorted(child.tag for child in case if not child.tag.startswith("system-"))
        result.setdefault(case.get("name"), []).extend(ends or ["passed"])
    return result


def run_tests(python, modules, matches, changes):
    """The outcomes, and the folder where the preload may have left things."""
    folder = scratch()
    report = os.path.join(folder, "report.xml")
    argv = [python, "-m", "test", "-j4", "--junit-xml", report, "--timeout", "240"]
    for name in HANGS:
        argv += ["-i", name]
    for match in matches:
        argv += ["-m", match]
    if changes is None:
        env = environment(False, TMPDIR=folder)
    else:
        env = environment(True, TMPDIR=folder, DLPROF_OUT=os.path.join(folder, "run.db"),
                          **changes)
    done = run(argv + modules, env=env, cwd=folder, timeout=1700)
    if not check(os.path.exists(report), "a report", argv, done.out[-3000:], done.err[-1000:]):
        return {}, folder
    return outcomes(report), folder


def module_of(name):
    """test.test_os.FileTests.test_read or test.test_x.test_y.Z.test_z: what `-m test` is given."""
    parts = name.split(" ")[-1].strip("()").split(".") if " (" in name else name.split(".")
    return next((part for part in parts if part.startswith("test_")), parts[0])


def differences(plain, ours):
    return sorted(name for name in set(plain) | set(ours) if plain.get(name) != ours.get(name))


def check_left(way, folder):
    found = databases(folder)
    if way == "default":
        equal(found, [], way, "databases")
    elif check(found, way, "has recorded"):
        wait_for_drain(folder, 60)
        say(way, "recorded", sum(len(rows(database, "SELECT pid FROM process"))
                                 for database in found), "processes in", len(found), "runs")


def compare(python, modules, matches):
    plain, _ = run_tests(python, modules, matches, None)
    for way, changes in WAYS.items():
        ours, folder = run_tests(python, modules, matches, changes)
        check_left(way, folder)
        say(python, way, len(modules), "modules,", len(ours), "tests,",
            sum(ends == ["passed"] for ends in ours.values()), "passed,",
            sum(ends == ["skipped"] for ends in ours.values()), "skipped")
        different = differences(plain, ours)
        if not different:
            check(ours, python, way, "has run something")
            continue
        # Some of these tests race with time. What we break is broken the second time too, and
        # those that fail now and then without us do not count.
        again = sorted({module_of(name) for name in different})
        say("once more, because of", len(different), "tests:", *different[:9])
        second, _ = run_tests(python, again, matches, None)
        mine, _ = run_tests(python, again, matches, changes)
        for name in different:
            check(ours.get(name) in (plain.get(name), second.get(name)) or
                  mine.get(name) in (plain.get(name), second.get(name)), python, way, name,
                  "is", ours.get(name), mine.get(name), "and without us", plain.get(name),
                  second.get(name))


def main():
    need_shim()
    python = find(sys.argv[1])
    if not python:
        skip("no CPython {0} with its tests: neither pyenv's nor Debian's package "
             "libpython{0}-testsuite".format(sys.argv[1]))
    chosen = os.environ.get("TEST_CPYTHON", "quick")
    modules = {"quick": QUICK, "full": FULL}.get(chosen) or chosen.split(",")
    exist = "import importlib.util as u, sys; print(*(n for n in sys.argv[1:] " \
            "if u.find_spec('test.' + n)))"

    def existing(names):
        done = run([python, "-c", exist] + list(names), env=environment(False))
        return done.out.split()

    compare(python, existing(modules), [])
    for names, matches in PARTS.items() if chosen == "full" else ():
        found = existing(names)
        if found:  # no names at all would mean every test there is
            compare(python, found, matches)
    finish()


main()
