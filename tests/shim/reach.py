# SPDX-License-Identifier: Apache-2.0
"""dlprof counts the calls of decode libraries however a program finds them, and each caller still calls its own.

usage: reach.py CC [CXX]. Each case of reach/reach.c runs bare, under the preload, and recording from its
start: it must print the same text each time, and the recorded run must have counted its images. Calls that
dlprof cannot reach are not counted.
"""
import concurrent.futures
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (RUNNER, check, environment, equal, finish, need_shim, rows, run, say,  # noqa
                         scratch, wait_for_drain)

SOURCES = os.path.join(HERE, "reach")
MANY, KEPT = 10, 8	# copies of a library that the case loads, and how many copies dlprof has room for

# {case: images that dlprof counts}. In `threads` modules are loaded at the places of unloaded ones all the time.
CASES = {
    "local": 3,
    "lazy": 6,
    "bind_now": 1,
    "deep": 2,
    "global": 1,
    "handle": 1,
    "special": 0,
    "errors": 1,
    "dlmopen": 2,
    "constructor": 3,
    "origin": 0,
    "sibling": 0,
    "corrupt": 1,
    "corrupt_lazy": 1,
    "corrupt_deep": 1,
    "corrupt_coroutine": 1,
    "throw": 1,
    "threads": 200,
    "reopen": 30,
    "many": KEPT,
    "crowded": KEPT + 1,
    "sealed": 1,
    "forked": 2,
    "table": 1,
    "self": 1,
    "bsymbolic": 0,
    "hidden": 0,
    "impostor": 0,
    "linked": 3,
    "linked-lazy": 3,
}


# Cases whose calls dlprof cannot observe, and says so: the drain looks a second after the process's start.
HIDDEN = ("bsymbolic", "hidden", "impostor")
LINGER_S = 3


# Cases that fail in an emulator: it lacks MADV_WIPEONFORK, can start no drain, and is slow. Lazily bound
# slots are observed before ld.so has bound them on x86-64 only.
NATIVE = HIDDEN + ("forked", "threads", "lazy", "corrupt_lazy", "linked-lazy")


IBT = ("-fcf-protection", "-Wl,-z,ibtplt") if not RUNNER and os.uname().machine == "x86_64" else ()


class Builder:
    def __init__(self, folder, cc, cxx):
        self.folder, self.cc, self.cxx = folder, cc, cxx
        os.mkdir(os.path.join(folder, "sub"))

    def compile(self, target, sources, *flags, libraries=(), cxx=False, shared=True):
        argv = [self.cxx if cxx else self.cc, "-O2", "-g0", "-D_GNU_SOURCE", "-o", target]
        argv += ["-shared", "-fPIC"] if shared else []
        argv += [os.path.join(SOURCES, source) for source in sources.split()] + list(flags)
        for library in libraries:
            argv += [os.path.join(".", library)]
        # Keeps all libraries, in this order, in which ld.so searches them.
        argv += ["-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", "-lpthread"]
        done = subprocess.run(argv, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        check(done.returncode == 0, target, "cannot be built:", done.stdout.decode())

    def all(self):
        now, lazy = ("-Wl,-z,now,-z,relro",), ("-Wl,-z,lazy",)
        self.compile("lib_a.so", "fake.c", "-DCOPY=100", "-Wl,-soname,lib_a.so")
        self.compile("lib_b.so", "fake.c", "-DCOPY=200", "-Wl,-soname,lib_b.so")
        for copy in "ab":
            library = ["lib_{}.so".format(copy)]
            self.compile("caller_{}.so".format(copy), "caller.c", *now, libraries=library)
            # On x86-64, the lazy calls of one begin with ENDBR64, as those of most distributions do.
            self.compile("caller_{}_lazy.so".format(copy), "caller.c", *lazy, *(IBT if copy == "b" else ()),
                         libraries=library)
        self.compile("caller_a_table.so", "caller.c", "-DTABLE", *now, libraries=["lib_a.so"])
        self.compile("caller_none.so", "caller.c", *now)
        self.compile("nested.so", "caller.c", "-DNESTED=\"./caller_b.so\"", *now,
                     libraries=["lib_a.so"])
        for name, flags in {"c": (), "c2": (), "bsymbolic": ("-Wl,-Bsymbolic",),
                            "hidden": ("-DHIDDEN",), "impostor": ("-DIMPOSTOR",)}.items():
            self.compile("self_{}.so".format(name), "fake.c caller.c", "-DCOPY=300", *now, *flags)
        for i in range(MANY):
            self.compile("many{}.so".format(i), "fake.c caller.c", "-DCOPY={}".format(1000 + i))
        self.compile("next.so", "next.c", "-Wl,-Bsymbolic")
        self.compile("cuda.so", "cuda.c", "-Wl,-soname,cuda.so")
        self.compile("file.so", "file.c", libraries=["cuda.so"])
        self.compile("sub/libonly.so", "fake.c", "-DCOPY=400")
        self.compile("sub/plug.so", "plug.c")
        self.compile("reach", "reach.c", shared=False)
        for name, flags in (("linked", now), ("linked-lazy", lazy)):
            self.compile(name, "linked.c caller.c", *flags, libraries=["lib_a.so"], shared=False)
        if self.cxx:
            self.compile("cv.so", "cv.cc", "-Wl,-soname,cv.so", cxx=True)
            self.compile("cv_user.so", "cv_user.cc", libraries=["cv.so"], cxx=True)


def count(database):
    """Returns how many images and pixels the run has decoded."""
    found = rows(database, "SELECT SUM(count) AS images, SUM(pixels) AS pixels FROM decode")[0]
    return found["images"] or 0, found["pixels"] or 0


def meta(database, key):
    return "".join(row["value"] for row in rows(
        database, "SELECT value FROM meta WHERE key = ?", key))


def notes(database):
    return " / ".join(row["text"] for row in rows(database, "SELECT text FROM note"))


def try_case(folder, name):
    argv = RUNNER + ([os.path.join(folder, name)] if name.startswith("linked") else
                     [os.path.join(folder, "reach"), name])
    database = os.path.join(scratch(), "run.db")
    bare = run(argv, env=environment(False), cwd=folder)
    idle = run(argv, env=environment(), cwd=folder)
    recorded = run(argv, cwd=folder, env=environment(
        DLPROF_ACTIVATE="always", DLPROF_QUIET="1", DLPROF_OUT=database,
        REACH_LINGER_S=LINGER_S if name in HIDDEN or name == "local" else None))
    for kind, done in (("idle", idle), ("recording", recorded)):
        equal((done.status, done.out, done.err), (bare.status, bare.out, bare.err), name, kind)
    equal(bare.status, 0, name, "exit status without the preload")
    check(bare.out, name, "says nothing")
    wait_for_drain(database)
    return name, bare.out, database


def check_case(name, out, database):
    images, pixels = count(database)
    say("{}: {} images; {}".format(name, images, " | ".join(out.split("\n")[:3])))
    if "mseal" not in out:
        equal((images, pixels), (CASES[name], CASES[name] * 100 * 10), name, "images, pixels")
    if name in HIDDEN:
        module = "self_{}.so".format(name)
        equal(meta(database, "decoders_hidden"), "libjpeg in " + module, name, "is not named")
        check("decoder libjpeg inside" in notes(database), name, "is not noted", notes(database))
    if name == "local":
        equal(meta(database, "decoders_patched"), "libjpeg", name)
        equal(meta(database, "decoders_hidden"), "", name)
    if name in ("many", "crowded"):
        check("too many copies" in notes(database), name, "is not noted", notes(database))
    if name == "sealed" and "mseal" not in out:
        check("cannot be changed" in notes(database), name, "is not noted", notes(database))


def main():
    need_shim()
    compilers = sys.argv[1:]
    folder = scratch()
    Builder(folder, compilers[0], compilers[1] if len(compilers) > 1 else None).all()
    names = [name for name in CASES if name != "throw" or len(compilers) > 1]
    if RUNNER:
        names = [name for name in names if name not in NATIVE]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda name: try_case(folder, name), names):
            check_case(*found)
    finish()


main()
