# SPDX-License-Identifier: Apache-2.0
"""dlprof calls what it must of CUPTI, and never what does harm, by the log of calls that the fakes write.

usage: calls.py. The checks stand for mistakes that other tracers have made.
"""
import concurrent.futures
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (FAKES, HERE, LOOP, Run, check, environment, equal, finish, libraries, loop,  # noqa
                 need_shim, plan_text, run, sandboxed, say, scratch, start, wait_for_drain)

PYTHON = "/usr/bin/python3"
PLAN = dict(steps=30, wait=2000, kernels=5, kernel=200)
MEMCPY, MEMSET, KERNEL, OVERHEAD, MEMCPY2, SYNC, GRAPH = 1, 2, 10, 17, 22, 38, 51

# {level: the kinds of records that dlprof enables at it}
LEVELS = {
    "default": {MEMCPY, MEMSET, KERNEL, OVERHEAD, MEMCPY2, SYNC},
    "graphs": {MEMCPY, MEMSET, KERNEL, OVERHEAD, MEMCPY2, SYNC, GRAPH},
    "memcpy": {MEMCPY, MEMSET, MEMCPY2, SYNC},
    "full": {MEMCPY, MEMSET, KERNEL, OVERHEAD, MEMCPY2, SYNC},
    "off": set(),
}


def enabled(done):
    return [int(call[3].split(" ")[1]) for call in done.calls
            if call[3].startswith("cuptiActivityEnable ")]


def check_levels():
    for level, kinds in LEVELS.items():
        done = loop(PLAN, DLPROF_CUDA=level)
        equal((done.status, done.misuse()), (0, []), level, "status, misuse", done.err)
        # Each kind is enabled once and never disabled: CUPTI crashes or loses records otherwise.
        equal(sorted(enabled(done)), sorted(kinds), level, "kinds enabled")
        equal(done.called("cuptiActivityDisable"), 0, level, "disabled")
        for never in ("cuptiFinalize", "cuptiActivityRegisterTimestampCallback",
                      "cuptiSubscribe_v2", "cuptiActivitySetAttribute", "cuptiActivityFlushPeriod"):
            equal(done.called(never), 0, level, never)
        # CUPTI has one subscriber at most: dlprof gives that place back.
        equal(done.called("cuptiSubscribe"), done.called("cuptiUnsubscribe"), level, "subscriber")
        equal(done.called("cuptiEnableCallback", "cuptiEnableDomain"), 0, level, "callbacks")
        meta = done.meta()
        equal(meta.get("cuda_mode"), "off" if level == "off" else "cupti", level, "mode")
        if level != "off":
            last = max(op.end for op in done.ops)
            forced = [int(c[0]) for c in done.calls if c[3] == "cuptiActivityFlushAll 1"]
            check(len(forced) == 1 and forced[0] > last - 10_000_000, level, "forced flushes")
        known = done.query("SELECT COUNT(gpu_busy_ns) AS busy, COUNT(h2d_ns) AS copies FROM batch"
                           " WHERE step_ns NOT NULL")[0]
        equal(known, {"busy": 30 * (level in ("default", "graphs", "full")), "copies": 30 * (level != "off")},
              level, "batches of which busy and copies are known")


def check_versions():
    """A CUPTI that is too old is not used, whole graphs are recorded from 12.6 on, a kind that fails is left out."""
    for version, graphs in (12, None), (18, False), (24, True), (26, True), (28, True):
        done = loop(dict(PLAN, graph=1), cuda=12, FAKE_CUPTI_VERSION=version, DLPROF_CUDA="graphs")
        equal((done.status, done.misuse()), (0, []), version, "status, misuse", done.err)
        meta = done.meta()
        equal(meta.get("cuda_mode"), "cudart" if graphs is None else "cupti", version, "mode")
        equal(GRAPH in enabled(done), bool(graphs), version, "graphs as wholes")
    done = loop(PLAN, FAKE_CUPTI_RC_ACTIVITYENABLE="27:{}".format(SYNC))
    equal((done.status, done.meta().get("cuda_mode")), (0, "cupti"), "a kind fails")
    # libcupti 13.2 crashes in every function with a driver that it cannot use, so that none may be called.
    for version in 130001, 130201:
        done = loop(PLAN, FAKE_DRIVER_VERSION=12040, FAKE_CUPTI_VERSION=version)
        meta = done.meta()
        equal((done.status, done.misuse(), meta.get("cuda_mode")), (0, [], "cudart"), version,
              "libcupti newer than the driver")
        equal([call for call in done.calls if call[3].startswith("cupti")], [], version, "calls")
        check("the driver of CUDA 12" in meta.get("cuda_reason", ""), "reason",
              meta.get("cuda_reason", ""))


def check_refused():
    """When cuptiSubscribe fails the program does the same as without dlprof, and meta has the reason."""
    plain = run([LOOP, plan_text(dict(PLAN, print=0))],
                env=environment(preload=False, LD_LIBRARY_PATH=libraries()))
    for code in 39, 35, 15, 999, 2, 12:
        done = loop(dict(PLAN, print=0), FAKE_CUPTI_RC_SUBSCRIBE=code)
        equal((done.status, done.out), (plain.status, plain.out), code, "status, output")
        equal(len(done.err.splitlines()), 1, code, "nothing but the line at exit", done.err)
        meta = done.meta()
        equal(meta.get("cuda_mode"), "cudart", code, "mode")
        check(str(code) in meta.get("cuda_reason", ""), code, "reason", meta.get("cuda_reason", ""))
        # NVIDIA's libcupti searches for the driver at each try.
        equal(done.called("cuptiSubscribe"), 1, code, "tries")
        equal(enabled(done), [], code, "kinds")


def check_preset():
    """dlprof leaves CUDA_INJECTION64_PATH to another tool that is set there."""
    folder = scratch()
    done = loop(PLAN, folder=folder, CUDA_INJECTION64_PATH=os.path.join(FAKES, "libclient.so"),
                CLIENT_OUT=os.path.join(folder, "client"))
    equal((done.status, done.misuse()), (0, []), "preset: status, misuse", done.err)
    with open(os.path.join(folder, "client")) as file:
        said = file.read().splitlines()
    check("subscribe 0" in said and said[-1] == "end", "preset: the tool has its records")
    injected = [call[3].split(" ")[1] for call in done.calls if call[3].startswith("inject ")]
    equal([os.path.basename(path) for path in injected], ["libclient.so"], "preset: injected")
    meta = done.meta()
    equal((meta.get("cuda_mode"), meta.get("clock")), ("cudart", "host"), "preset: mode")


MAPPED = """
import ctypes, os, sys
libraries = lambda: sorted({line.split()[-1] for line in open("/proc/self/maps")
                            if "libcupti" in line})
if sys.argv[1] == "first":
    ctypes.CDLL("libkineto.so")
before = libraries()
print(len(before))
cuda = ctypes.CDLL("libcuda.so.1")
print(cuda.cuInit(0))
if sys.argv[1] == "later":
    ctypes.CDLL("libkineto.so")
print(*libraries())
"""


def check_mapped():
    """dlprof loads no second libcupti, nor one before CUDA's start: it would replace the one that torch brings.

    LD_LIBRARY_PATH names another copy first, as with an installed toolkit; torch (libkineto) finds its own.
    """
    other = scratch()
    for name in "libcupti.so.13", "libcudart.so.13":
        os.symlink(os.path.join(FAKES, "v13", name), os.path.join(other, name))
    path = "{}:{}:{}".format(FAKES, other, os.path.join(FAKES, "v13"))
    for when in "first", "later", "never":
        outputs = []
        for preload in False, True:
            done = start([PYTHON, "-c", MAPPED, when], preload=preload, LD_LIBRARY_PATH=path)
            equal((done.status, done.misuse()), (0, []), when, "status, misuse", done.err)
            outputs.append(done.out.splitlines())
        plain, ours = outputs
        equal(ours[:2], ["1" if when == "first" else "0", "0"], when, "before cuInit", ours)
        if when == "never":
            check(len(ours[2].split()) <= 1, when, "mapped", ours)
        else:
            equal(ours[2:], plain[2:], when, "mapped")
            equal(len(ours[2].split()), 1, when, "one", ours)


LOADING = """
import ctypes, os
shim = ctypes.CDLL(None)
shim.dlprof_load_begin.argtypes = shim.dlprof_load_end.argtypes = [ctypes.c_int64]
cuda = ctypes.CDLL("libcuda.so.1")
data = os.open(__import__("sys").argv[1], os.O_RDONLY)
for i in range(3):
    shim.dlprof_batch_begin()
    shim.dlprof_load_begin(i)
    if i == 1:
        print(cuda.cuInit(0))
    os.pread(data, 4096, 0)
    shim.dlprof_load_end(i)
    shim.dlprof_batch_end(-1)
"""


def check_own_files():
    """Files that CUPTI reads in a thread that is loading a sample do not count as data of that load."""
    folder = scratch()
    data, settings = (os.path.join(folder, name) for name in ("data.bin", "settings.bin"))
    for path in data, settings:
        with open(path, "wb") as file:
            file.write(bytes(16384))
    done = start([PYTHON, "-c", LOADING, data], folder=folder, FAKE_CUPTI_READS=settings)
    equal((done.status, done.out), (0, "0\n"), "own files: status", done.err)
    equal(done.meta().get("cuda_mode"), "cupti", "own files: mode")
    loads = done.query("SELECT read_bytes, read_count FROM load ORDER BY batch")
    equal([r["read_bytes"] for r in loads], [4096] * 3, "own files: bytes of the loads", loads)
    names = [row["path"] for row in done.query("SELECT path FROM file")]
    equal([os.path.basename(name) for name in names], ["data.bin"], "own files: files")


INTERPOSER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static int depth, count;
void *dlsym(void *handle, const char *name)
{
	static void *(*real)(void *, const char *);
	void *found;

	if (!real)
		real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!real)
		real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (++depth > 50)
		__builtin_trap();
	count++;
	found = real(handle, name);
	depth--;
	return found;
}
__attribute__((destructor)) static void tell(void) { fprintf(stderr, "interposed %d\n", count); }
"""


def check_interposer():
    """dlprof works with another library that interposes dlsym(), preloaded before or after the shim."""
    folder = scratch()
    source, library = os.path.join(folder, "i.c"), os.path.join(folder, "libinterposer.so")
    with open(source, "w") as file:
        file.write(INTERPOSER)
    done = run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source])
    if not equal(done.status, 0, "interposer builds", done.err):
        return
    shim = environment()["LD_PRELOAD"]
    for order in "{1}:{0}", "{0}:{1}":
        done = loop(PLAN, LD_PRELOAD=order.format(shim, library))
        equal((done.status, done.misuse()), (0, []), order, "status, misuse", done.err)
        check(re.search(r"interposed \d+", done.err), order, "it is there", done.err)
        rows = done.query("SELECT COUNT(*) AS n FROM batch WHERE gpu_busy_ns NOT NULL")
        equal(rows[0]["n"], 30, order, "steps")


CUFILE = """
import ctypes, sys
class Status(ctypes.Structure): _fields_ = [("cufile", ctypes.c_int), ("cuda", ctypes.c_int)]
shim, cufile = ctypes.CDLL(None), ctypes.CDLL(sys.argv[1])
if len(sys.argv) > 2:
    shim.dlprof_batch_begin(); shim.dlprof_load_begin(ctypes.c_int64(0))
cufile.cuFileRead.restype = ctypes.c_ssize_t
cufile.cuFileReadAsync.restype = cufile.cuFileBatchIOSubmit.restype = Status
size, done = ctypes.c_size_t(500), ctypes.c_ssize_t(0)
batch = (ctypes.c_uint64 * 16)(*[1, 0, 0, 0, 3000, 0, 0, 0, 1, 0, 0, 0, 40000, 0, 1, 0])
print(cufile.cuFileRead(None, None, ctypes.c_size_t(20), ctypes.c_long(0), ctypes.c_long(0)))
for count in 1, 0:
    size.value *= count
    said = cufile.cuFileReadAsync(None, None, ctypes.byref(size), None, None, ctypes.byref(done), None)
    print(said.cufile, said.cuda, done.value)
    said = cufile.cuFileBatchIOSubmit(None, 2 * count, batch, 0)
    print(said.cufile, said.cuda)
if len(sys.argv) > 2:
    shim.dlprof_load_end(ctypes.c_int64(0)); shim.dlprof_batch_end(ctypes.c_int64(0))
"""


def check_cufile():
    """Reads by functions of libcufile that dlsym() found, as kvikio does, count as reads of the load."""
    folder = scratch()
    library = os.path.join(folder, "libcufile.so.0")
    built = run(["cc", "-shared", "-fPIC", "-o", library, os.path.join(HERE, "cufile.c")])
    equal(built.status, 0, "cuFile: builds", built.err)
    plain = start([PYTHON, "-c", CUFILE, library], preload=False)
    done = start([PYTHON, "-c", CUFILE, library, "marks"], folder=folder)
    equal((done.status, done.out), (plain.status, plain.out), "cuFile: status, output", done.err)
    loads = done.query("SELECT read_count, read_bytes FROM load")
    equal([(r["read_count"], r["read_bytes"]) for r in loads], [(3, 20 + 500 + 3000)],
          "cuFile: reads of the load", loads)


def check_no_wipe():
    """The GPU's times are known also where the kernel lacks MADV_WIPEONFORK, as gVisor does."""
    folder = scratch()
    argv = sandboxed(["wipe=EINVAL"], [LOOP, plan_text(dict(PLAN, fork_at=10))])
    done = start(argv, folder=folder, preload=False)
    wait_for_drain(done.database)
    equal((done.status, done.misuse()), (0, []), "no wipe: status, misuse", done.err)
    known = done.query("SELECT COUNT(gpu_busy_ns) AS n FROM batch")
    equal(known, [{"n": 30}], "no wipe: steps known")


def main():
    need_shim()
    jobs = [check_cufile, check_no_wipe, check_levels, check_versions, check_refused, check_preset, check_mapped,
            check_own_files, check_interposer]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda job: job(), jobs))
    finish()


main()
