# SPDX-License-Identifier: Apache-2.0
"""The library for aarch64, built here and run by an emulator: results, decoders, batches, clock.

Skipped without the compiler gcc-aarch64-linux-gnu or the emulator (package qemu-user-static, in
later Debians qemu-user). An emulator cannot show in which order a processor sees what another
processor has written.
"""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (BUILD, ROOT, check, environment, equal, finish, need_shim,  # noqa
                         report, rows, run, say, scratch, skip)

CC, LIBC = "aarch64-linux-gnu-gcc", "/usr/aarch64-linux-gnu"
EMULATOR = "qemu-aarch64-static" if shutil.which("qemu-aarch64-static") else "qemu-aarch64"
RUNNER = [EMULATOR, "-L", LIBC]
FORTIFIED = ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]


def must(argv, cwd=None):
    done = subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if not check(done.returncode == 0, argv, done.stdout.decode()[-3000:]):
        finish()
    return done.stdout.decode()


def build_library():
    folder = os.path.join(BUILD, "tests", "shim", "aarch64")
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        must(["meson", "setup", folder, ROOT, "--cross-file",
              os.path.join(ROOT, "tests", "aarch64.txt"), "-Dtests=false", "-Danalyzer=false",
              "-Ddebug=false"])
    said = must(["ninja", "-C", folder])
    equal([line for line in said.splitlines() if "warning:" in line], [], "compiler warnings")
    return os.path.join(folder, "shim", "libdlprof.so")


def compile_program(folder, name, *flags, shared=False):
    target = os.path.join(folder, name)
    must([CC, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-w", "-o", target, "-lpthread"] +
         (["-shared", "-fPIC"] if shared else []) + list(flags))
    return target


def other_test(shim, name, *arguments):
    """Runs another test of this folder, which runs its programs through the emulator."""
    done = run([sys.executable, os.path.join(HERE, name)] + list(arguments), timeout=300,
               env=environment(False, TEST_SHIM=shim, TEST_RUNNER=" ".join(RUNNER)))
    say(done.out.strip())
    equal(done.status, 0, name, done.err[-2000:])


def check_calls(shim, folder):
    def source(name):
        return os.path.join(HERE, name)

    host = compile_program(folder, "host", *FORTIFIED, *[
        source("host_{}.c".format(part)) for part in ("calls", "files", "stdio", "waits")])
    early = compile_program(folder, "early.so", source("early.c"), shared=True)
    cancel = compile_program(folder, "cancel", source("cancel.c"))
    other_test(shim, "calls.py", early, "none", "none", host, "--", cancel)


def check_spawn(folder):
    spawn = compile_program(folder, "spawn", "-I" + os.path.join(ROOT, "shim"),
                            os.path.join(ROOT, "tests", "unit", "test_spawn.c"))
    done = run(RUNNER + [spawn, "EMULATED"], env=environment(False))
    equal((done.status, done.out), (0, ""), "spawn", done.err)


def check_loop(shim, folder):
    """Programs of this machine read what an emulated program has recorded."""
    loop = compile_program(folder, "loop", "-I" + os.path.join(ROOT, "include"),
                           os.path.join(ROOT, "examples", "loop.c"))
    database, load_ms, batches = os.path.join(folder, "run.db"), 20, 30
    done = run(RUNNER + [loop, "2", str(load_ms), "5", str(batches)],
               env=environment(LD_PRELOAD=shim, DLPROF_OUT=database))
    equal((done.status, done.out), (0, "trained {}\n".format(2 * batches)), "loop", done.err)
    check("dlprof: {} batches".format(2 * batches) in done.err, "line at exit", done.err)
    told = report("--json", database)
    if not equal(told.status, 0, "report", told.err):
        return
    equal(json.loads(told.out)["stall"]["batches"], 2 * batches, "batches")
    loads = rows(database, "SELECT load_ns, blocked_ns FROM load")
    equal(len(loads), 2 * batches, "loads")
    # A load's begin and end come from the kernel's clock, and its sleeps from the processor's counter.
    for load in loads:
        check(load_ms * 1e6 <= load["blocked_ns"] <= load["load_ns"] * 1.05, "two clocks", load)


def check_stages(shim, folder):
    """Stages of tf.data are named, and return their status where C++ wants it, which is not as on x86-64."""
    source = os.path.join(ROOT, "tests", "e2e", "tf_stages.c")
    base = compile_program(folder, "libbase.so", "-DFRAMEWORK", "-Wl,-z,now", source, shared=True)
    program = compile_program(folder, "stages", "-DPROGRAM", "-I" + os.path.join(ROOT, "include"), source, base,
                              "-Wl,-z,now,-rpath," + folder)
    for preload, texts in (None, 0), (shim, 8):  # three stages and two kernels, but no kernels made before the first batch
        done = run(RUNNER + [program], env=environment(False, LD_PRELOAD=preload, DLPROF_QUIET="1",
                                                       DLPROF_OUT=os.path.join(folder, "stages.db")))
        equal((done.status, done.out), (0, "80 0 0 {}\n".format(texts)), "stages, preload", preload, done.err)


def main():
    need_shim()
    for tool in (CC, EMULATOR, "meson", "ninja"):
        if not shutil.which(tool):
            skip("no " + tool)
    if not os.path.exists(os.path.join(LIBC, "lib", "libc.so.6")):
        skip("no C library for it")
    folder = scratch()
    os.environ["TMPDIR"] = folder  # the segments stay in it: no drain can be started, which would remove them
    shim = build_library()
    check_calls(shim, folder)
    check_spawn(folder)
    check_loop(shim, folder)
    check_stages(shim, folder)
    other_test(shim, "reach.py", CC)
    finish()


main()
