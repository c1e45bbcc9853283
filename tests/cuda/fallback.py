# SPDX-License-Identifier: Apache-2.0
"""Without CUPTI: what the host sees of the runtime's calls, and nothing of what the GPU alone knows.

usage: fallback.py
"""
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (FAKES, LOOP, blocked, check, environment, equal, finish, libraries, loop, need_shim,  # noqa: E402
                 plan_text, report, run, start, syncs)
from dlprof_test import DLPROF, scratch, wait_for_drain  # noqa: E402

PLAN = dict(steps=20, wait=2000, kernels=5, kernel=200)
HOST_ONLY = dict(FAKE_CUPTI_RC_SUBSCRIBE=39)
GPU_ALONE = ("gpu_busy_ns", "gpu_idle_wait_ns", "gap_data_ns", "gap_h2d_ns", "gap_sync_ns",
             "gap_host_ns", "gap_other_ns", "memset_ns", "h2d_ns", "d2h_ns", "nccl_ns")


def steps(done):
    return done.query("SELECT * FROM gpu_step WHERE step_ns NOT NULL ORDER BY batch")


def check_launches():
    """<<<>>> of any nvcc, launches with attributes, of the thread's own stream: all are counted."""
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
    """What another thread launches comes when it launches again, in the next step, soon or late."""
    for count, forward in (12, 1), (4, 600_000):
        done = loop(dict(PLAN, steps=count, backward=forward, load_reads=1), **HOST_ONLY)
        equal((done.status, done.misuse()), (0, []), "backward: status, misuse", done.err)
        counts = [row["kernel_count"] for row in steps(done)]
        # Nobody speaks for it when the program ends.
        equal((len(counts), counts[:-1]), (count, [5] * (count - 1)), "backward: launches", counts)
        check(counts[-1] in (2, 5), "backward: launches of the last step", counts)


def check_graph_launches():
    """By the runtime and by the driver, on a stream and on the thread's own; with CUPTI all four."""
    for driver, launch in (0, 0), (0, 3), (1, 0):
        plan = dict(PLAN, graph=1, driver=driver, launch=launch)
        done = loop(plan, DLPROF_CUDA="graphs")
        equal({row["graph_count"] for row in steps(done)}, {1}, "CUPTI, graphs", plan)
        if driver:
            continue
        done = loop(plan, **HOST_ONLY)
        equal({row["graph_count"] for row in steps(done)}, {1}, "host, graphs", plan)


def check_stubs():
    """A library that exports the runtime's functions and passes calls on to it: a call is one, though
    both are wrapped, the stub's by the caller's slot and the runtime's by dlsym()."""
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
    """How long the host was blocked is the host's to know."""
    for sync, column, kind in ((1, "sync_stream_ns", 3), (2, "sync_event_ns", 1),
                               (3, "sync_context_ns", 4)):
        done = loop(dict(PLAN, sync=sync), **HOST_ONLY)
        found = steps(done)
        equal(len(found), 20, column, "steps")
        blocked(found, column, syncs(done.ops, kind))


def check_pageable():
    done = loop(dict(PLAN, pinned=0), **HOST_ONLY)
    equal(done.status, 0, "pageable: status")
    equal({row["h2d_pageable_bytes"] for row in steps(done)}, {None}, "pageable: not known")


def check_direction():
    """Of a copy whose direction is not said the bytes are not those of either; CUPTI knows it."""
    plan = dict(PLAN, by_address=1)
    for changes, expected in (HOST_ONLY, None), ({}, 2_000_000):
        done = loop(plan, **changes)
        equal((done.status, done.misuse()), (0, []), "direction: status, misuse", done.err)
        equal({row["h2d_bytes"] for row in steps(done)}, {expected}, "direction: bytes", changes)


def check_doctor():
    """`dlprof doctor` tries the program: it says whether CUPTI was attached, and why not."""
    for change, words in ((dict(FAKE_CUPTI_VERSION=130300), "jax.profiler may find CUPTI taken"),
                          ({}, "CUPTI 130001 gave "), (HOST_ONLY, "another tool uses CUPTI"),
                          (dict(FAKE_CUPTI_RC_ACTIVITYENABLE="27:10"), "refuses to record kernels")):
        done = run([DLPROF, "doctor", "-q", LOOP, plan_text(dict(PLAN, steps=80))], timeout=100,
                   env=environment(preload=False, LD_LIBRARY_PATH=libraries(), CUDA_INJECTION64_PATH=None, **change))
        equal(done.status, 0, change, done.err)
        check(words in " ".join(done.out.split()), change, words, done.out)


def check_helper():
    """Open MPI's daemon, which uses CUDA before the training does, leaves the database's name to that."""
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
    """Another program that ran kernels on this GPU meanwhile is named; a GPU that seems to idle then lacks nothing."""
    for users, words, change in (("0:$$:-1:50 0:1:-1:35 0:2:-1:7", "(pid 1), up to 35 % of GPU 0", {}),
                                 ("1:$$:-1:50 0:1:-1:35", None, {}),  # another GPU
                                 ("0:$$:-1 0:1:-1:35", None, {}),  # no kernels of the run's are there
                                 ("0:1:-1:35", None, {}),  # of another PID namespace, or no GPU of the run
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
    jobs = [check_shared, check_helper, check_doctor, check_launches, check_backward, check_graph_launches, check_stubs, check_syncs, check_pageable, check_direction]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda job: job(), jobs))
    finish()


main()
