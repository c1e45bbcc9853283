# SPDX-License-Identifier: Apache-2.0
"""Without CUPTI dlprof counts the calls of CUDA's runtime, and says nothing of what only the GPU knows.

usage: fallback.py
"""
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (FAKES, LOOP, blocked, busy, check, environment, equal, finish, libraries, loop, need_shim,  # noqa: E402
                 plan_text, report, run, start, syncs, union)
from dlprof_test import DLPROF, scratch, wait_for_drain  # noqa: E402

PLAN = dict(steps=20, wait=2000, kernels=5, kernel=200)
HOST_ONLY = dict(FAKE_CUPTI_RC_SUBSCRIBE=39)
GPU_ALONE = ("gpu_busy_ns", "gpu_idle_wait_ns", "gap_data_ns", "gap_h2d_ns", "gap_sync_ns",
             "gap_host_ns", "gap_other_ns", "memset_ns", "h2d_ns", "d2h_ns", "nccl_ns")


def steps(done):
    return done.query("SELECT * FROM gpu_step WHERE step_ns NOT NULL ORDER BY batch")


def check_launches():
    """All kinds of launches are counted: <<<>>> of old and new nvcc, with attributes, on the thread's own stream."""
    for launch in 0, 1, 2, 3:
        done = loop(dict(PLAN, launch=launch), **HOST_ONLY)
        equal((done.status, done.misuse()), (0, []), launch, "status, misuse", done.err)
        found = steps(done)
        equal(len(found), 20, launch, "steps")
        equal({row["kernel_count"] for row in found}, {5}, "launches, variant", launch)
        equal({row["h2d_bytes"] for row in found}, {2_000_000}, "bytes, variant", launch)
        for column in GPU_ALONE:
            equal({row[column] for row in found}, {None}, column, "is the GPU's own to know")
        equal(done.meta()["clock"], "host", "clock")


def check_backward():
    """Launches of another thread (a backward pass) count in their step, though it reports them at its next launch."""
    for count, forward in (12, 1), (4, 600_000):
        done = loop(dict(PLAN, steps=count, backward=forward, load_reads=1), **HOST_ONLY)
        equal((done.status, done.misuse()), (0, []), "backward: status, misuse", done.err)
        counts = [row["kernel_count"] for row in steps(done)]
        # The other thread launches nothing after the last step: its launches of that step may be missing.
        equal((len(counts), counts[:-1]), (count, [5] * (count - 1)), "backward: launches", counts)
        check(counts[-1] in (2, 5), "backward: launches of the last step", counts)


def check_graph_launches():
    """Launches of graphs are counted by the runtime's calls without CUPTI, and by the driver's also with CUPTI."""
    for driver, launch in (0, 0), (0, 3), (1, 0):
        plan = dict(PLAN, graph=1, driver=driver, launch=launch)
        done = loop(plan, DLPROF_CUDA="graphs")
        equal({row["graph_count"] for row in steps(done)}, {1}, "CUPTI, graphs", plan)
        if driver:
            continue
        done = loop(plan, **HOST_ONLY)
        equal({row["graph_count"] for row in steps(done)}, {1}, "host, graphs", plan)


def check_stubs():
    """A call through a stub library, which passes calls on to the runtime, counts once, though dlprof wraps
    both: the stub's function in the caller's GOT slot, and the runtime's by dlsym()."""
    for sync, column, kind in ((1, "sync_stream_ns", 3), (2, "sync_event_ns", 1),
                               (3, "sync_context_ns", 4)):
        done = loop(dict(PLAN, sync=sync), DLPROF_ACTIVATE="always",
                    LD_LIBRARY_PATH="{}:{}".format(os.path.join(FAKES, "stub"), libraries()), **HOST_ONLY)
        equal((done.status, done.misuse()), (0, []), "stub: status, misuse", done.err)
        found = steps(done)
        equal({row["kernel_count"] for row in found}, {5}, "stub: launches")
        equal({row["h2d_bytes"] for row in found}, {2_000_000}, "stub: bytes")
        blocked(found, column, syncs(done.ops, kind), "stub:")
    done = loop(dict(PLAN, graph=1), DLPROF_ACTIVATE="always",
                LD_LIBRARY_PATH="{}:{}".format(os.path.join(FAKES, "stub"), libraries()), **HOST_ONLY)
    equal({row["graph_count"] for row in steps(done)}, {1}, "stub: graphs")


def check_syncs():
    """How long the host was blocked in synchronizing calls is known without CUPTI."""
    for sync, column, kind in ((1, "sync_stream_ns", 3), (2, "sync_event_ns", 1),
                               (3, "sync_context_ns", 4)):
        done = loop(dict(PLAN, sync=sync), **HOST_ONLY)
        found = steps(done)
        equal(len(found), 20, column, "steps")
        blocked(found, column, syncs(done.ops, kind))


def check_polls():
    """A thread that asks again and again whether the GPU is done waits for it, unless it works meanwhile."""
    spin, nap, work = 7, 8, 9
    for sync, driver, column in (spin, 0, "sync_event_ns"), (spin, 1, "sync_event_ns"), \
                                (nap, 0, "sync_stream_ns"), (work, 0, None):
        done = loop(dict(PLAN, sync=sync, driver=driver, kernel=3000), **HOST_ONLY)
        equal((done.status, done.misuse()), (0, []), "polls: status, misuse", done.err)
        found = steps(done)
        equal(len(found), 20, "polls: steps", sync)
        for one in "sync_event_ns", "sync_stream_ns", "sync_context_ns":
            waited = sum(row[one] or 0 for row in found)
            true = union(busy(done.ops)) if one == column else 0
            # It counts from the second query on, and not at all where the host came late.
            check(0.7 * true <= waited <= sum(row["step_ns"] for row in found) * bool(true), "polls:", sync, driver,
                  one, waited, true)
    # A query now and then is no wait.
    found = steps(loop(dict(PLAN, sync=0, poll=2, think=3000), **HOST_ONLY))
    equal({(row["sync_event_ns"], row["sync_stream_ns"]) for row in found}, {(0, 0)}, "polls: now and then")


def check_given():
    """Memsets and copies between GPUs are counted, and are neither kernels nor copies to or from the GPU."""
    for driver in 0, 1:
        done = loop(dict(PLAN, driver=driver), **HOST_ONLY)
        equal((done.meta().get("cuda_memsets"), done.meta().get("cuda_peer_bytes")), ("20", None), "given: memsets", driver)
        said = json.loads(report("--json", done.database).out)["coverage"]
        equal((said["host_memsets"], said["host_peer_bytes"]), (20, None), "given: JSON", driver)
        check("memset not observed 20 calls of the host" in " ".join(report("-v", done.database).out.split()), "given: -v", driver)
    done = start([os.path.join(FAKES, "devices"), plan_text(dict(devices=2, shape=1, steps=20))], **HOST_ONLY)
    equal((done.status, done.misuse()), (0, []), "given: status, misuse", done.err)
    peers = sum(op.bytes for op in done.ops if op.kind == "peer")
    equal((done.meta().get("cuda_peer_bytes"), peers > 0), (str(peers), True), "given: peers")
    equal(sum(row["h2d_bytes"] for row in steps(done)),
          sum(op.bytes for op in done.ops if op.kind == "memcpy" and op.copy == 1), "given: copies from the host")
    check("between GPUs not observed 10.0 MB by calls of the host" in " ".join(report("-v", done.database).out.split()), "given: -v")


def check_pageable():
    done = loop(dict(PLAN, pinned=0), **HOST_ONLY)
    equal(done.status, 0, "pageable: status")
    equal({row["h2d_pageable_bytes"] for row in steps(done)}, {None}, "pageable: not known")


def check_direction():
    """The bytes of a copy with cudaMemcpyDefault are not known by direction, except with CUPTI."""
    plan = dict(PLAN, by_address=1)
    for changes, expected in (HOST_ONLY, None), ({}, 2_000_000):
        done = loop(plan, **changes)
        equal((done.status, done.misuse()), (0, []), "direction: status, misuse", done.err)
        equal({row["h2d_bytes"] for row in steps(done)}, {expected}, "direction: bytes", changes)


def check_driver():
    """Where the program calls the driver, as JAX does, the report says that nothing is recorded without CUPTI."""
    for driver, words in (1, "no launch and no copy to it was seen: without CUPTI"), (0, "only the host's calls were recorded"):
        done = loop(dict(PLAN, driver=driver, memset=0), **HOST_ONLY)
        equal((done.status, done.misuse()), (0, []), "driver: status, misuse", done.err)
        text = " ".join(report("-v", done.database).out.split())
        check(words in text, "driver:", driver, words, text)


def check_doctor():
    """`dlprof doctor` runs the program and says whether CUPTI gave records, and else why not."""
    for change, words in ((dict(FAKE_CUPTI_VERSION=130300), "jax.profiler may find CUPTI taken"),
                          ({}, "CUPTI 130001 gave "), (HOST_ONLY, "another tool uses CUPTI"),
                          (dict(FAKE_CUPTI_RC_ACTIVITYENABLE="27:10"), "refuses to record kernels")):
        done = run([DLPROF, "doctor", "-q", LOOP, plan_text(dict(PLAN, steps=80))], timeout=100,
                   env=environment(preload=False, LD_LIBRARY_PATH=libraries(), CUDA_INJECTION64_PATH=None, **change))
        equal(done.status, 0, change, done.err)
        check(words in " ".join(done.out.split()), change, words, done.out)


def check_helper():
    """Open MPI's daemon orted makes no database, though it uses CUDA before the training does."""
    folder = scratch()
    os.symlink(LOOP, os.path.join(folder, "orted"))
    for program, there in (os.path.join(folder, "orted"), False), (LOOP, True):
        database = os.path.join(folder, "run-{}.db".format(there))
        done = run([program, plan_text(dict(PLAN, marks=0))], timeout=100,
                   env=environment(preload=True, LD_LIBRARY_PATH=libraries(), CUDA_INJECTION64_PATH=None, DLPROF_OUT=database))
        equal(done.status, 0, program, done.err)
        if there:
            wait_for_drain(database)
        equal(os.path.exists(database), there, program, "has made a database")


def check_shared():
    """The report names another program that used the run's GPU meanwhile, and then explains no idle time of it."""
    for users, words, change in (("0:$$:-1:50 0:1:-1:35 0:2:-1:34", "(pid 1), up to 35 % of GPU 0", {}),
                                 ("1:$$:-1:50 0:1:-1:35", None, {}),  # another GPU
                                 ("0:$$:-1 0:1:-1:35", None, {}),  # NVML gives no share of the run itself
                                 ("0:1:-1:35", None, {}),  # NVML lists the run on no GPU, or by another PID
                                 ("0:$$:-1:50 0:1:-1:4", None, {}),
                                 ("0:$$:-1:50 0:1:3:35", None, {}),  # a MIG instance
                                 ("0:$$:-1:50 0:1:-1:35", None, dict(FAKE_NVML_OLD=1)),
                                 ("0:$$:-1:50 0:1:-1:35", None, dict(FAKE_NVML_HANG=1))):
        argv = ["sh", "-c", 'FAKE_NVML="{}" exec "$0" "$@"'.format(users), LOOP,
                plan_text(dict(PLAN, steps=1200, wait=100, think=3000, kernels=2, kernel=300))]
        done = start(argv, **change)
        equal((done.status, done.misuse()), (0, []), "shared: status, misuse", users, done.err)
        found = done.meta().get("gpu_shared")
        check(found.endswith(words) if words and found else found == words, "shared:", users, change, "found", found)
        said = json.loads(report("--json", done.database).out)
        equal(said["coverage"]["gpu_shared"], found, "shared: JSON", users)
        if words:
            check(words in " ".join(report(done.database).out.split()), "shared: the screen", report(done.database).out)
        check((said["gpu"]["lack"] is None) == bool(words), "shared: lacks", users, said["gpu"]["lack"], said["gpu"]["lack_share"])


def main():
    need_shim()
    jobs = [check_shared, check_helper, check_doctor, check_driver, check_launches, check_backward, check_graph_launches, check_stubs, check_syncs, check_polls, check_given, check_pageable, check_direction]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda job: job(), jobs))
    finish()


main()
