# SPDX-License-Identifier: Apache-2.0
"""The double's records and answers against the vendor's headers and library, where they are installed.

usage: abi.py headers|library|double. TEST_CUDA: another toolkit than /usr/local/cuda. TEST_LIBCUPTI:
another libcupti. `double` asks the double the same questions as `library` asks the real one.
"""
import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from gpu import (FAKES, check, environment, equal, finish, run, say, scratch, skip)  # noqa: E402

CUDA = os.environ.get("TEST_CUDA") or "/usr/local/cuda"
NO_FAKES = environment(preload=False, LD_LIBRARY_PATH=None)

# What libcupti 13.0 answers where there is no driver: 999, each time, for all that needs one.
NO_DRIVER = {
    "cuptiGetVersion": 0, "cuptiGetTimestamp": 0, "realtime": 1, "cuptiGetResultString": 0,
    "cuptiGetLastError": 0, "cuptiActivityGetNumDroppedRecords": 0,
    "cuptiActivityRegisterCallbacks": 0, "cuptiSubscribe": 999, "cuptiEnableCallback": 1,
    "cuptiEnableDomain": 1, "cuptiUnsubscribe": 1, "cuptiActivityEnable": 999,
    "cuptiActivityRegisterTimestampCallback": 999, "cuptiSetThreadIdType": 999,
    "cuptiActivitySetAttribute": 999, "cuptiActivityFlushAll": 999,
    "cuptiActivityFlushPeriod": 999, "cuptiActivityEnableAllSyncRecords": 999,
    "cuptiActivityEnableRuntimeApi": 999, "cuptiFinalize": 0,
}


def check_headers():
    include = os.path.join(CUDA, "include")
    if not os.path.exists(os.path.join(include, "cupti.h")):
        skip("no CUPTI headers in " + include)
    fakes = os.path.join(HERE, "..", "fakes")
    program = os.path.join(scratch(), "abi")
    done = run(["cc", "-w", "-D_GNU_SOURCE", "-I", include, "-I", fakes, "-o", program,
                os.path.join(HERE, "abi.c")] +
               [os.path.join(fakes, name) for name in ("records.c", "common.c")])
    equal(done.status, 0, "abi.c builds", done.err)
    done = run([program])
    equal((done.status, done.out), (0, "checked\n"), "records")


def ask(path, versions):
    done = run([os.path.join(FAKES, "nodriver"), path], env=NO_FAKES)
    equal(done.status, 0, path, done.err)
    answers = [line.split() for line in done.out.splitlines()]
    equal(answers.pop(), ["end"], path, "came to its end")
    say(path, answers[1])
    answers = [(name, int(value)) for name, value in answers]
    found = {name for name, _ in answers}
    equal(sorted(set(NO_DRIVER) - found), [], "asked")
    for name, value in answers:
        if name == "version":
            check(value in versions, "version", value)
        else:
            equal(value, NO_DRIVER[name], name)


def check_library():
    # In a process of its own: meson puts the fakes into this one's LD_LIBRARY_PATH.
    find = "import ctypes; ctypes.CDLL('libcuda.so.1')"
    if not run([sys.executable, "-c", find], env=NO_FAKES).status:
        skip("this machine has a driver: see tests/gpu")
    named = os.environ.get("TEST_LIBCUPTI")
    paths = [named] if named else sorted(
        glob.glob(os.path.join(CUDA, "lib64", "libcupti.so.13")) +
        glob.glob(os.path.join(CUDA, "extras", "CUPTI", "lib64", "libcupti.so.13")))
    if not paths:
        skip("no libcupti.so.13 in " + CUDA)
    ask(paths[0], range(130000, 140000))


def check_double():
    ask(os.path.join(FAKES, "v13", "libcupti.so.13"), [130001])


def main():
    {"headers": check_headers, "library": check_library, "double": check_double}[sys.argv[1]]()
    finish()


main()
