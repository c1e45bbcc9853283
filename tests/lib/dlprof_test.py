# SPDX-License-Identifier: Apache-2.0
"""Functions that all tests share: run a program under the preload, wait for its database, read it.

A test script calls check() for each promise and ends with finish(). skip() is exit status 77."""
import atexit
import glob
import json
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

import consistent
import stub

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("TEST_BUILD") or os.path.join(ROOT, "build")
PREFIX = os.environ.get("TEST_PREFIX")  # where the dlprof to test is installed: a wheel's folder, /usr


def _ours(built, *installed):
    if not PREFIX:
        return os.path.join(BUILD, built)
    paths = [os.path.join(PREFIX, path) for path in installed]
    return ([found for path in paths for found in glob.glob(path)] + paths)[0]


SHIM = os.environ.get("TEST_SHIM") or _ours("shim/libdlprof.so", "lib/libdlprof.so",
                                            "lib/*/libdlprof.so")
RUNNER = os.environ.get("TEST_RUNNER", "").split()  # emulator for another processor
DRAIN = _ours("analyzer/dlprof-drain", "libexec/dlprof/dlprof-drain")
REPORT = _ours("analyzer/dlprof-report", "bin/dlprof-report")
DLPROF = _ours("analyzer/dlprof", "bin/dlprof")
PYTHON = os.environ.get("TEST_PYTHON") or "/usr/bin/python3"  # a Python with torch
DRAIN_TIMEOUT_S = 30

# Control characters (but tab and newline) and those that reverse text: no output may have them.
HARMFUL = "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"

_failures = []
_checks = [0]
_always = {}  # variables that environment() sets for all programs


def say(*words):
    print(*words, flush=True)


def check(passed, *what):
    """Checks one promise; if it fails, prints `what` and goes on, so that one run shows all
    failures."""
    _checks[0] += 1
    if not passed:
        _failures.append(what)
        say("FAIL:", *what)
    return bool(passed)


def equal(found, expected, *what):
    return check(found == expected, *what, "found {!r}, expected {!r}".format(found, expected))


def failure_count():
    return len(_failures)


def finish():
    if not _checks[0]:
        skip("nothing could be checked")
    say("{} checks, {} failed".format(_checks[0], len(_failures)))
    sys.exit(1 if _failures else 0)


def skip(reason):
    say("SKIP:", reason)
    sys.exit(77)


def need_shim():
    for path in (SHIM, DRAIN, REPORT):
        if not os.path.exists(path):
            check(False, "not built:", path)
            finish()


def need_torch():
    """Skips the test if PYTHON lacks torch, torchvision or PIL; does not import them here."""
    find = "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"
    try:
        missing = subprocess.run([PYTHON, "-c", find, "torch", "torchvision", "PIL"]).returncode
    except OSError:
        missing = True
    if missing:
        skip("{} has no torch, torchvision and PIL".format(PYTHON))


def use_stub():
    """Makes all later programs import a stub of torch, with the DataLoader of the installed torch.

    The stub imports in a tenth of the time. Use it where any training will do."""
    folder = stub.make(scratch())
    os.chmod(folder, 0o755)  # for tests that run as other users
    _always["PYTHONPATH"] = folder
    return folder


def scratch():
    """Makes a folder that is removed when the test ends. Its name is unlike dlprof-*, the
    segments'."""
    folder = tempfile.mkdtemp(prefix="test-of-dlprof-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def example_images():
    """Returns the folder of images that the quickstart made, or makes one like it."""
    images = os.path.join(BUILD, "images")
    if not os.path.isdir(images):
        images = os.path.join(scratch(), "images")
        subprocess.run([PYTHON, os.path.join(ROOT, "examples", "make_images.py"), images],
                       check=True, stdout=subprocess.DEVNULL)
    return images


def environment(preload=True, **changes):
    """Returns this process's environment without dlprof's settings, with the preload, then
    `changes`.

    Options of sanitizers are removed: since 1.4 meson makes each test abort at a finding."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("DLPROF_") and k not in ("LD_PRELOAD", "PYTHONPATH")
           and k not in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "MSAN_OPTIONS")}
    if preload:
        env["LD_PRELOAD"] = SHIM
    for name, value in dict(_always, **changes).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = str(value)
    return env


def sandboxed(denied, argv, preload=True):
    """Returns a command that runs `argv` with some system calls denied, by deny.py.

    Run it without the preload: the command itself sets that for the program. If nothing is denied,
    returns `argv`."""
    if not denied:
        return argv
    deny = os.path.join(os.path.dirname(os.path.abspath(__file__)), "deny.py")
    return ([sys.executable, deny] + list(denied) + ["--"] +
            (["env", "LD_PRELOAD=" + SHIM] if preload else []) + argv)


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def run(argv, env=None, cwd=None, timeout=120, text_in=None, **keywords):
    """Runs a program to its end. If it hangs, that is a failed check."""
    stdin = subprocess.DEVNULL if text_in is None else subprocess.PIPE
    process = subprocess.Popen(argv, env=environment() if env is None else env, cwd=cwd,
                               stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               **keywords)
    try:
        out, err = process.communicate(text_in and text_in.encode(), timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        check(False, "hung:", argv)
    result = Result(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))
    if argv[0] == REPORT:
        check_consistent(argv, result.out)
    return result


def check_consistent(argv, out):
    """Checks that a report printed as JSON does not contradict itself, in every test."""
    if "--json" in argv and '"schema":"dlprof.report/3"' in out[:40]:
        for wrong in consistent.check(json.loads(out)):
            check(False, "a report contradicts itself:", argv[1:], wrong)


def processes():
    """Yields (pid, arguments) of every living process."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/{}/cmdline".format(name), "rb") as file:
                    yield int(name), file.read().decode(errors="replace").split("\0")[:-1]
            except OSError:
                pass


def drains(database):
    """Returns the pids of a run's drains, which have the database among their arguments."""
    return [pid for pid, argv in processes()
            if argv and os.path.basename(argv[0]) == "dlprof-drain"
            and any(database in argument for argument in argv[1:])]


def wait_for_drain(database, timeout=DRAIN_TIMEOUT_S):
    """Waits until a run's drain has ended, which is later than the recorded program. Returns
    success."""
    if RUNNER:  # an emulator cannot start the drain: the report stores the run
        report(database)
    end = time.monotonic() + timeout
    while drains(database):
        if time.monotonic() > end:
            check(False, "dlprof-drain did not end within", timeout, "s:", database)
            return False
        time.sleep(0.02)
    return True


def run_without_drain():
    """Records a run with a library that finds no drain. Returns its database and folder of
    segments."""
    folder = scratch()
    library = os.path.join(folder, os.path.basename(SHIM))
    shutil.copy(SHIM, library)
    database = os.path.join(folder, "run.db")
    run(["/bin/true"], env=environment(DLPROF_ACTIVATE="always", DLPROF_OUT=database,
                                       TMPDIR=folder, LD_PRELOAD=library))
    os.unlink(library)
    return database, os.readlink(database + "-segments")


def databases(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if name.endswith(".db"))


def rows(database, query, *arguments):
    """Returns the rows of a query as dictionaries."""
    uri = "file:{}?mode=ro".format(database)
    connection = sqlite3.connect(uri, uri=True, timeout=10)
    connection.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in connection.execute(query, arguments)]
    finally:
        connection.close()


def report(*arguments, **keywords):
    return run([REPORT] + list(arguments), env=environment(preload=False), **keywords)


def on_terminal(argv, **changes):
    """Returns what the program prints to a terminal."""
    main, side = pty.openpty()
    process = subprocess.Popen(argv, env=environment(preload=False, **changes), stdin=subprocess.DEVNULL,
                               stdout=side, stderr=subprocess.PIPE)
    os.close(side)
    out = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    process.communicate()
    os.close(main)
    return out.decode()


def check_nested(name, truth, found):
    """Checks recorded waits and loads against the script's own stamps of CLOCK_MONOTONIC.

    A recorded wait must lie within the script's, and a load around the script's, after its worker's
    last load, however busy the machine is. A wait of length 0 is that of a batch whose delivery
    could not be observed."""
    before = {}
    for own, row in zip(truth, found):
        end = row["begin_ns"] + row["wait_ns"]
        check(not row["wait_ns"] or own["begin"] <= row["begin_ns"] and end <= own["end"], name,
              "a wait is not within the script's", own, row)
    for own, row in sorted(zip(truth, found), key=lambda pair: pair[0]["load_begin"]):
        if row["load_ns"] is not None:
            check(before.get(own["pid"], 0) <= row["load_begin"] <= own["load_begin"] and
                  own["load_end"] <= row["load_begin"] + row["load_ns"], name,
                  "a load is not around the script's", own, row)
        before[own["pid"]] = own["load_end"]


def least(best, errors):
    """Keeps in `best` the smallest error of each kind over several equal runs; returns the largest.

    A busy machine disturbs another one in each run, but a fault is in all of them."""
    for what, error in errors:
        best[what] = min(error, best.get(what, error), key=abs)
    return max(map(abs, best.values()), default=0)


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spread(values, unit=1, digits=3):
    """Returns "median / 99 % / max" of values, to be printed."""
    if not values:
        return "no values"
    return " / ".join("{:.{}f}".format(v / unit, digits)
                      for v in (quantile(values, 0.5), quantile(values, 0.99), max(values)))
