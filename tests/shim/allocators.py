# SPDX-License-Identifier: Apache-2.0
"""With other preloads beside dlprof, in any order, each program does what it does without dlprof.

usage: allocators.py WHAT PROGRAM. WHAT: a library to preload too, or address, thread, faketime, dlprof,
none. PROGRAM: busy.c, built with that sanitizer for address and thread. Allocators start before dlprof and
call functions that it wraps, which has hung similar tools; libfaketime wraps the clock; a second
libdlprof.so at another path wraps the first one's functions.
"""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (DRAIN, PYTHON, SHIM, check, databases, environment, equal,  # noqa
                         finish, need_shim, run, say, scratch, skip, wait_for_drain)

TIMEOUT_S = 60
SNIPPET = """
import hashlib, json, os, subprocess, threading
def work(out):
    for i in range(20):
        with open("data", "rb") as file:
            out.append(hashlib.md5(file.read() * (i + 1)).hexdigest())
outs = [[] for _ in range(4)]
threads = [threading.Thread(target=work, args=(out,)) for out in outs]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps(outs))
print(subprocess.run(["cat", "data"], capture_output=True).stdout[:99])
pid = os.fork()
if not pid:
    os._exit(len(open("data").read()) % 200)
print(os.waitpid(pid, 0)[1])
"""
CLOCK = "import datetime, time; print(datetime.date.today(), time.monotonic() > 0)"


def find_library(name):
    """Returns the path at which ld.so would find a library; None: it is not installed."""
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                   "/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime",
                   "/usr/lib64", "/usr/local/lib"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    return None


def data_folder():
    folder = scratch()
    with open(os.path.join(folder, "data"), "w") as data:
        for i in range(500):
            data.write("line {} word{} {}\n".format(i, i * 7, i * 37))
    return folder


def transcript(argv, preload, **changes):
    done = run(argv, env=environment(False, LD_PRELOAD=preload or None, **changes),
               cwd=data_folder(), timeout=TIMEOUT_S)
    return done.status, done.out, done.err


def same(name, argv, others, order, **changes):
    """Compares a program under the preloads `order`, in which "us" means dlprof, with it under `others` alone."""
    plain = transcript(argv, ":".join(others), **changes)
    value = ":".join(SHIM if path == "us" else path for path in order)
    for when in (None, "always"):
        folder = scratch()
        ours = transcript(argv, value, DLPROF_ACTIVATE=when, DLPROF_QUIET=1, TMPDIR=folder,
                          DLPROF_OUT=os.path.join(folder, "run.db"), DLPROF_DETAIL="all",
                          **changes)
        for mine, theirs, what in zip(ours, plain, ("status", "stdout", "stderr")):
            equal(mine, theirs, name, value, "activate", when, what)
        wait_for_drain(folder)
        # Equal output proves something only if dlprof has recorded.
        equal(bool(databases(folder)), when == "always", name, value, "has recorded")
    return plain


def check_allocator(name, programs):
    path = name if os.path.isabs(name) else find_library(name)
    if not path:
        skip("no " + name)
    for order in (["us", path], [path, "us"]):
        for argv in programs:
            status, out, err = same(name, argv, [path], order)
            check(status in (0, 3) and out, name, argv[0], "works without us", status, err)


def check_faketime(programs):
    path = find_library("libfaketime.so.1")
    if not path:
        skip("no libfaketime")
    for order in (["us", path], [path, "us"]):
        for argv in programs + [[PYTHON, "-c", CLOCK]]:
            _, out, _ = same("libfaketime", argv, [path], order, FAKETIME="@2020-02-02 10:00:00")
        check(out.startswith("2020-02-02 "), "libfaketime is in force", out)


def check_two_of_us(programs):
    """ld.so takes a copy at another path for another library: two libraries then wrap the same functions."""
    folder = scratch()
    copy = shutil.copy(SHIM, folder)
    shutil.copy(DRAIN, folder)
    for order in (["us", copy], [copy, "us"]):
        for argv in programs:
            same("two copies", argv, [], order)


def runtime(name):
    compiler = shutil.which("gcc")
    if not compiler:
        skip("no gcc to ask for " + name)
    found = subprocess.run([compiler, "-print-file-name=" + name], stdout=subprocess.PIPE)
    path = os.path.realpath(found.stdout.decode().strip())
    if not os.path.isabs(path) or not os.path.exists(path):
        skip("no " + name)
    return path


def check_thread_sanitizer(program):
    library = runtime("libtsan.so")
    status, _, err = transcript([program], None)
    if status != 3:
        skip("ThreadSanitizer does not work here: " + err[-200:])
    same("TSan", [program], [library], [library, "us"])
    same("TSan", [program], [], ["us"])


def check_address_sanitizer(program):
    """All works with ASan's runtime as the first preload. If it is not the first, ASan ends the
    program with a message, whatever library is: it must do so under dlprof too, and not hang."""
    library = runtime("libasan.so")
    status, _, err = same("ASan", [program], [library], [library, "us"])
    equal(status, 3, "ASan works without us", err[-500:])
    for when in (None, "always"):
        folder = scratch()
        status, out, err = transcript([program], SHIM, DLPROF_ACTIVATE=when, DLPROF_QUIET=1,
                                      DLPROF_OUT=os.path.join(folder, "run.db"), TMPDIR=folder)
        equal((status, out), (1, ""), "ASan's runtime is not first")
        check("runtime does not come first" in err, "ASan says so", err[-500:])
        wait_for_drain(folder)
    same("ASan, told not to mind", [program], [], ["us"],
         ASAN_OPTIONS="verify_asan_link_order=0")


def main():
    need_shim()
    what, path = sys.argv[1], os.path.abspath(sys.argv[2])
    programs = [[path], [PYTHON, "-c", SNIPPET]]
    if what == "address":
        check_address_sanitizer(path)
    elif what == "thread":
        check_thread_sanitizer(path)
    elif what == "faketime":
        check_faketime(programs)
    elif what == "dlprof":
        check_two_of_us(programs)
    elif what == "none":
        for argv in programs:
            same("alone", argv, [], ["us"])
    else:
        check_allocator(os.path.abspath(what) if "/" in what else what, programs)
    finish()


main()
