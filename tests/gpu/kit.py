# SPDX-License-Identifier: Apache-2.0
"""Functions that the checks on real hardware share: paths, the table of results, and running a probe.

The machine gets everything prebuilt (build.sh). It needs Python 3, a driver and a libcupti, and for trainings
(accuracy.py, others.py, half of cost.py) torch. With --double, the probes run on tests/fakes (the double): this
shows only that the scripts themselves work.
"""
import ctypes
import glob
import importlib.util
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# The build that was carried to the GPU's machine, where plan.py puts it; a script run alone finds it too.
CARRIED = os.path.abspath(os.path.join(HERE, "..", "..", "build-gpu"))
if os.path.isdir(CARRIED):
    os.environ.setdefault("TEST_BUILD", CARRIED)
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import dlprof_test  # noqa: E402
from dlprof_test import BUILD, environment, rows, scratch, wait_for_drain  # noqa: E402,F401

DOUBLE = "--double" in sys.argv
ARGUMENTS = [a for a in sys.argv[1:] if not a.startswith("--")]
OUT = os.environ.get("OUT") or os.path.join(BUILD, "gpu-results")
PROBE = os.path.join(BUILD, "tests", "gpu", "probe")
CLIENT = os.path.join(BUILD, "tests", "fakes", "libclient.so")
LIBRARIES = os.path.join(BUILD, "lib")  # what build.sh carried along
PYTHON = sys.executable
BEGIN = time.monotonic()
NO_DRIVER = 77
FACTS_ONLY = 3  # exit status of a script whose table has no judgement, only facts
# seconds for a script; the default leaves time to write results, since commands on the machine end after ten minutes
LIMIT_S = float(os.environ.get("LIMIT_S") or 560)


def left():
    """Returns the seconds that this script may still take."""
    return LIMIT_S - (time.monotonic() - BEGIN)


def find_libcupti():
    """Returns the path of the libcupti that PyTorch would use here, else of the toolkit's; None: there is neither."""
    toolkit = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    try:
        nvidia = list(importlib.util.find_spec("nvidia").submodule_search_locations)
    except (ImportError, AttributeError):
        nvidia = []
    for pattern in [os.path.join(folder, "*", "lib", "libcupti.so.1*") for folder in nvidia] + [
            os.path.join(toolkit, folder, "libcupti.so.1[0-9]")
            for folder in ("extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib")]:
        for path in sorted(glob.glob(pattern), reverse=True):
            return path
    return None


def has_driver():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


LIBCUPTI = None if DOUBLE else find_libcupti()


class Table:
    """Writes results one by one, so that a run that is cut short has written what it found until then."""

    def __init__(self, name):
        if not DOUBLE and "--cpu" not in sys.argv and not has_driver():
            print("{}: no driver of CUDA works here: nothing was run".format(os.path.basename(sys.argv[0])))
            sys.exit(NO_DRIVER)
        name = os.environ.get("TABLE") or name  # plan.py runs parts of one script
        os.makedirs(OUT, exist_ok=True)
        self.path, self.failed, self.judged = os.path.join(OUT, name + ".md"), 0, 0
        with open(self.path, "w") as file:
            file.write("| {} | found | wanted | |\n| --- | --- | --- | --- |\n".format(name))

    def row(self, what, found, wanted, passed):
        """Adds a row; passed=None: the row is a fact and not judged."""
        verdict = "" if passed is None else "pass" if passed else "FAIL"
        self.failed += passed is False
        self.judged += passed is not None
        line = "| {} | {} | {} | {} |".format(what, found, wanted, verdict)
        with open(self.path, "a") as file:
            file.write(line + "\n")
        print(line, flush=True)
        return passed

    def fact(self, what, found):
        self.row(what, found, "", None)

    def each(self, checks):
        """Runs checks [(name, function, arguments...)]. One that raises, or has no time left, only fails its row."""
        for name, function, *arguments in checks:
            if left() < 15:
                self.row(name + ": not reached", "{:.0f} s are over".format(LIMIT_S), "", False)
                continue
            try:
                function(*arguments)
            except Exception as error:  # the other checks still run
                self.row(name + ": could not be looked at", repr(error), "", False)
        self.end()

    def end(self):
        print("{}: {} failed".format(self.path, self.failed))
        sys.exit(1 if self.failed else 0 if self.judged else FACTS_ONLY)


def settings(preload=False, double=None, **changes):
    """Returns the environment of a program: without or with dlprof, on the GPU or on the fakes (double).

    For the GPU, LD_LIBRARY_PATH gets no library of CUDA: it would precede the RUNPATH by which torch finds its own.
    """
    path = [LIBRARIES] + [p for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if p]
    if DOUBLE if double is None else double:
        fakes = os.path.join(BUILD, "tests", "fakes")
        path = [fakes, os.path.join(fakes, "v13")] + path
    values = dict(LD_LIBRARY_PATH=":".join(path), CUDA_INJECTION64_PATH=None,
                  PROBE_MODULE=os.path.join(BUILD, "tests", "gpu", "spin.fatbin"))
    if DOUBLE:
        values["PROBE_MODULE"] = os.path.join(HERE, "spin.cu")
    values.update(changes)
    return environment(preload=preload, **values)


def probe_settings(**keywords):
    """Returns settings() with the path of libcupti: dlprof looks beside libcudart, which a probe does not load."""
    found = dict(CLIENT_CUPTI=LIBCUPTI, DLPROF_LIBCUPTI=LIBCUPTI) if LIBCUPTI else {}
    return settings(**dict(found, **keywords))


def run(argv, env, timeout=120):
    """Runs a program. Returns (status, stdout, stderr, seconds); the status of a program that hangs is "hung"."""
    begin, timeout = time.monotonic(), max(5, min(timeout, left()))
    try:
        done = subprocess.run(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=timeout)
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        status, out, err = "hung", error.stdout or b"", error.stderr or b""
    return (status, out.decode(errors="replace"), err.decode(errors="replace"),
            time.monotonic() - begin)


def probe(*arguments, **keywords):
    """Runs the probe. Returns its lines, each as a list of words."""
    timeout = keywords.pop("timeout", 120)
    status, out, err, _ = run([PROBE] + [str(a) for a in arguments], probe_settings(**keywords),
                              timeout)
    if status not in (0, -6, -15, -9):
        print("probe", arguments, "ended with", status, err[-500:], file=sys.stderr, flush=True)
    return [line.split() for line in out.splitlines()]


class Record:
    """A record that the tracer client.c printed. Its times are converted from CUPTI's clock to CLOCK_MONOTONIC."""

    def __init__(self, words, to_mono):
        self.kind, begin, end = int(words[1]), int(words[2]), int(words[3])
        self.begin = to_mono(begin) if begin else 0
        self.end = to_mono(end) if end else 0
        self.correlation, self.stream, self.bytes = (int(words[i]) for i in (4, 5, 6))
        self.what, self.graph, self.name = int(words[7]), int(words[8]), " ".join(words[9:])


def map_clock(looks):
    """Returns a function from CUPTI's clock to CLOCK_MONOTONIC; the clocks drift apart by microseconds a second.

    looks: rows of both clocks' times and the length of the look. The quickest look in each half of the rows counts.
    """
    if not looks:
        return lambda stamp: stamp
    half = len(looks) // 2
    first, last = (min(part, key=lambda look: look[2]) for part in (looks[:half] or looks,
                                                                  looks[half:]))
    apart = last[0] - first[0]
    slope = (last[1] - first[1]) / apart if apart > 100_000_000 else 1
    return lambda stamp: first[1] + int((stamp - first[0]) * slope)


class Trace:
    """Runs a probe under the tracer client.c, and holds what both printed."""

    def __init__(self, *arguments, **changes):
        folder = scratch()
        path = os.path.join(folder, "client")
        self.lines = probe(*arguments, CUDA_INJECTION64_PATH=changes.pop("inject", CLIENT),
                           CLIENT_OUT=path, **changes)
        text = []
        if os.path.exists(path):
            with open(path) as file:
                text = [line.split() for line in file.read().splitlines()]
        self.said = text
        self.to_mono = map_clock([(int(w[2]), (int(w[1]) + int(w[3])) // 2, int(w[3]) - int(w[1]))
                                  for w in self.answers("clock")])
        self.records = [Record(words, self.to_mono) for words in self.answers("record")]

    def answers(self, word):
        return [words for words in self.said if words and words[0] == word]

    def of(self, *kinds):
        return [record for record in self.records if record.kind in kinds]

    def did(self, word):
        return [words for words in self.lines if words and words[0] == word]


def union(spans):
    total, last = 0, 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, last))
        last = max(last, end)
    return total


def median(values):
    return statistics.median(values) if values else None


def quantile(values, share):
    return dlprof_test.quantile(values, share) if values else None


def us(ns):
    return "none" if ns is None else "{:.1f} us".format(ns / 1000)
