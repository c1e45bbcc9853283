# SPDX-License-Identifier: Apache-2.0
"""DLPROF_DRIVER_HOOK=1: calls of the driver by programs that pass libcudart by, when CUPTI stands down.

usage: driver.py. What a program gets and sees is the same as without us; what it does is counted once.
"""
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (FAKES, blocked, check, environment, equal, finish, loop, need_shim,  # noqa
                 run, say, scratch, start, syncs)

DIRECT = os.path.join(FAKES, "direct")
STEPS = 12
HOST_ONLY = dict(FAKE_CUPTI_RC_SUBSCRIBE=39)
HOOK = dict(HOST_ONLY, DLPROF_DRIVER_HOOK="1")
# What one step of direct.c does.
STEP = dict(kernel_count=5, graph_count=1, h2d_bytes=1_600_000, d2h_bytes=4096)
SYNCS = (("sync_stream_ns", 3), ("sync_event_ns", 1), ("sync_context_ns", 4))
WANTED = {"cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel", "cuGraphLaunch",
          "cuMemcpyHtoD", "cuMemcpyHtoDAsync", "cuMemcpyDtoH", "cuMemcpyDtoHAsync",
          "cuMemcpyAsync", "cuMemcpy2DAsync", "cuStreamSynchronize", "cuEventSynchronize",
          "cuCtxSynchronize"}
PLAN = dict(steps=STEPS, wait=2000, kernels=5, kernel=200)


def steps(done):
    return done.query("SELECT * FROM gpu_step WHERE step_ns NOT NULL ORDER BY batch")


def direct(how, flags=0, version=13000, more=(), **changes):
    argv = [DIRECT, how, str(flags), str(version), str(STEPS), *more]
    changes.setdefault("preload", True)
    return start(argv, **changes)


def answers(done):
    """What the program says that it got, but for whether functions are those that are exported."""
    lines = [json.loads(line) for line in done.out.splitlines()]
    return [{key: value for key, value in line.items() if key != "as_exported"} for line in lines]


def wrapped(done):
    return {line["name"] for line in map(json.loads, done.out.splitlines())
            if line.get("found") and not line["as_exported"]}


def check_counts(what, done, expected=STEP, columns=SYNCS):
    """Counts exactly, and how long the host was blocked."""
    equal((done.status, done.misuse()), (0, []), what, "status, misuse", done.err)
    found = steps(done)
    equal(len(found), STEPS, what, "steps")
    for column, value in expected.items():
        equal({row[column] for row in found}, {value}, what, column)
    for column, kind in columns if found else ():
        blocked(found, column, syncs(done.ops, kind), what)


def check_way(way):
    """By every way in: the same pointers twice, the same results, and all of it seen."""
    how, flags, version = way
    plain = direct(how, flags, version, preload=False)
    unhooked = direct(how, flags, version, **HOST_ONLY)
    hooked = direct(how, flags, version, **HOOK)
    equal(plain.status, 0, way, plain.err)
    check(all(line.get("found", 1) for line in answers(plain) if line.get("name") != "none"),
          way, "the double has them all", plain.out)
    check("differs" not in hooked.out, way, "asked twice", hooked.out)
    equal(unhooked.out, plain.out, way, "not hooked: nothing is another")
    equal(steps(unhooked), [], way, "not hooked: not seen")
    equal(answers(hooked), answers(plain), way, "results and errno")
    # A newer function than we know is left alone: nobody knows its parameters.
    known = WANTED - {"cuStreamSynchronize"} if version > 13000 else WANTED
    equal(wrapped(hooked) & known, known, way, "wrapped")
    equal(wrapped(hooked) - wrapped(plain), known, way, "and no other")
    equal(hooked.meta().get("cuda_driver_hook"), "on", way, "meta")
    check_counts(way, hooked, columns=SYNCS[1:] if version > 13000 else SYNCS)
    if version > 13000:
        equal({row["sync_stream_ns"] for row in steps(hooked)}, {0}, way, "13.1's")


def check_unified():
    """Of a copy whose direction is not said the bytes are not those of either."""
    plain = direct("names", more=["unified"], preload=False)
    hooked = direct("names", more=["unified"], **HOOK)
    equal(answers(hooked), answers(plain), "unified: results and errno")
    check_counts("unified", hooked, dict(STEP, h2d_bytes=None, d2h_bytes=None))
    with_cupti = direct("names", more=["unified"])
    check_counts("unified, CUPTI", with_cupti, dict(h2d_bytes=2_600_000, d2h_bytes=4096), [])


def check_local():
    """What the caller of dlsym(RTLD_DEFAULT) does not see it does not get."""
    plain = direct("local", preload=False)
    hooked = direct("local", **HOOK)
    equal((plain.status, {line["found"] for line in answers(plain)}), (0, {0}), "local: the double")
    equal((hooked.status, hooked.out), (0, plain.out), "local")


def check_second():
    """Where another library has a name, too, who is answered with which depends on who asks."""
    folder = scratch()
    library = os.path.join(folder, "libsecond.so")
    done = run(["cc", "-x", "c", "-", "-shared", "-o", library],
               text_in="int cuGraphLaunch(void *graph, void *stream) { return 0; }")
    if not equal(done.status, 0, "second: builds", done.err):
        return
    plain = direct("global", preload=False, LD_PRELOAD=library)
    hooked = direct("global", **dict(HOOK, LD_PRELOAD=environment()["LD_PRELOAD"] + ":" + library))
    equal(answers(hooked), answers(plain), "second: results and errno")
    equal(wrapped(plain), {"cuGraphLaunch"}, "second: it is there")
    equal(wrapped(hooked), WANTED, "second: wrapped, or the other one's")
    equal({row["graph_count"] for row in steps(hooked)}, {0}, "second: launches of graphs")
    hooked = direct("global", **dict(HOOK, DIRECT_LOCAL=library))
    equal(wrapped(hooked), WANTED - {"cuGraphLaunch"}, "second, that is not seen: wrapped")


def lookups(done):
    """What the driver was asked for by name: (name, version, flags)."""
    return [tuple(call[3].split(" ")[1:]) for call in done.calls if call[3].startswith("lookup ")]


def check_forwarded():
    """Name, version and flags get there as they are; only what is newer than us is asked twice."""
    for version in 12000, 13010:
        plain = direct("proc2", 2, version, preload=False)
        hooked = direct("proc2", 2, version, **HOOK)
        asked = set(lookups(plain))
        equal(asked, {(name, str(version), "2") for name, _, _ in asked}, version, "the double")
        extra = {(name, "13000", "2") for name in WANTED} if version > 13000 else set()
        equal(set(lookups(hooked)), asked | extra, version, "asked")


def check_failures():
    """Results, errno and launches that were none."""
    for fails, missing in ("cuLaunchKernel", 3), ("cuGraphLaunch", 0), ("cuCtxSynchronize", 0):
        knobs = dict(FAKE_CUDA_FAILS=fails, FAKE_CUDA_ERRNO=77)
        plain = direct("names", preload=False, **knobs)
        hooked = direct("names", **dict(HOOK, **knobs))
        check('"result": 719, "errno": 77' in plain.out, fails, "the double fails", plain.out)
        equal(answers(hooked), answers(plain), fails, "results and errno")
        expected = dict(STEP, kernel_count=STEP["kernel_count"] - missing,
                        graph_count=int(fails != "cuGraphLaunch"))
        check_counts((fails, "fails"), hooked, expected)


def check_once():
    """A call of libcudart, and what it calls of the driver, are one; linked or looked up alike."""
    host = dict(kernel_count=5, graph_count=0, h2d_bytes=2_000_000)
    for plan in dict(launch=0), dict(launch=1), dict(launch=3), dict(sync=2), dict(sync=3):
        column = {2: SYNCS[1], 3: SYNCS[2]}.get(plan.get("sync"), SYNCS[0])
        done = loop(dict(PLAN, **plan), **HOOK)
        check_counts(("runtime", plan), done, host, [column])
    # By the driver, without libcudart: only with the hook. _ptsz by direct.c.
    driver = dict(PLAN, driver=1)
    check_counts("driver", loop(driver, **HOOK), host, [SYNCS[0]])
    graphs = dict(PLAN, graph=1)
    for plan in dict(graphs, driver=1), graphs, dict(graphs, launch=3):
        check_counts(("graph", plan), loop(plan, **HOOK), dict(kernel_count=0, graph_count=1), [])
    found = steps(loop(driver, **HOST_ONLY))
    equal({row["kernel_count"] for row in found}, {0}, "driver, not hooked")


def check_beside_cupti():
    """With CUPTI it records nothing of its own."""
    done = direct("proc2", DLPROF_DRIVER_HOOK="1")
    equal((done.status, done.misuse()), (0, []), "with CUPTI: status, misuse", done.err)
    meta = done.meta()
    equal((meta.get("cuda_mode"), meta.get("clock")), ("cupti", "gpu"), "with CUPTI: mode")
    found = steps(done)
    for column in "kernel_count", "h2d_bytes", "d2h_bytes":
        equal({row[column] for row in found}, {STEP[column]}, "with CUPTI", column)
    # The first release of CUPTI 13 has no records of this: the hook does.
    done = direct("proc2", DLPROF_DRIVER_HOOK="1", FAKE_CUPTI_VERSION=130000)
    check_counts("13.0.0", done, {}, [SYNCS[2]])


def check_words():
    done = direct("names", **dict(HOOK, DLPROF_DRIVER_HOOK="yes"))
    notes = " ".join(row["text"] for row in done.query("SELECT text FROM note"))
    check("DLPROF_DRIVER_HOOK wants 0 or 1" in notes, "a bad value", notes)
    equal(wrapped(done), set(), "a bad value: off")
    done = direct("names", **dict(HOOK, DLPROF_CUDA="off"))
    equal((wrapped(done), done.meta().get("cuda_driver_hook")), (set(), None), "DLPROF_CUDA=off")


# A library that shares GPUs: its own cuMemAlloc, by taking dlsym().
SHARER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int depth, count, allocations;
static int (*real_allocate)(uint64_t *, size_t);
static int allocate(uint64_t *address, size_t bytes)
{
	allocations++;
	return real_allocate(address, bytes);
}
void *dlsym(void *handle, const char *name)
{
	static void *(*real)(void *, const char *);
	void *found;

	if (!real)
		real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (++depth > 50)
		abort();
	count++;
	found = real(handle, name);
	depth--;
	if (strcmp(name, "cuMemAlloc_v2") || !found)
		return found;
	real_allocate = (int (*)(uint64_t *, size_t))found;
	return (void *)allocate;
}
__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "shared %d %d\n", count, allocations);
}
"""


def check_sharer():
    """Before us it keeps dlsym() for itself, behind us it is asked as if we were not there."""
    folder = scratch()
    source, library = os.path.join(folder, "s.c"), os.path.join(folder, "libsharer.so")
    with open(source, "w") as file:
        file.write(SHARER)
    done = run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source])
    if not equal(done.status, 0, "sharer builds", done.err):
        return
    shim = environment()["LD_PRELOAD"]
    plain = direct("names", preload=False, LD_PRELOAD=library)
    said = plain.err.strip()
    check(said.startswith("shared ") and said.endswith(" 1"), "sharer is there", said)
    for order, first in ("{1}:{0}", False), ("{0}:{1}", True):
        for hook in None, "1":
            what = order, hook
            done = direct("names", **dict(HOST_ONLY, DLPROF_DRIVER_HOOK=hook, DLPROF_QUIET="1",
                                          LD_PRELOAD=order.format(shim, library)))
            equal(answers(done), answers(plain), what, "results")
            check(done.err.strip().endswith(" 1"), what, "its function is called", done.err)
            if hook and first:
                check_counts(what, done)
                equal(done.meta().get("cuda_driver_hook"), "on", what, "meta")
            elif hook:
                check("another library" in done.meta().get("cuda_driver_hook", ""), what, "meta")
            if not (hook and first):
                equal(wrapped(done), wrapped(plain), what, "stays out")


def main():
    need_shim()
    ways = [("names", 0, 0), ("names", 2, 0), ("global", 0, 0), ("proc", 0, 12000), ("proc", 2, 12000),
            ("proc2", 0, 13000), ("proc2", 2, 13000), ("again", 0, 12000), ("proc2", 0, 13010),
            ("proc", 2, 13010)]
    jobs = [check_forwarded, check_failures, check_once, check_beside_cupti, check_words,
            check_sharer, check_local, check_second,
            check_unified]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        done = [pool.submit(check_way, way) for way in ways] + [pool.submit(job) for job in jobs]
        for future in done:
            future.result()
    say("{} ways in".format(len(ways)))
    finish()


main()
