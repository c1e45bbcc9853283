# SPDX-License-Identifier: Apache-2.0
"""The fake CUPTI gives true records of what was asked for, but late and in disorder, as NVIDIA's does.

usage: double.py. A small tracer (tests/fakes/client.c) is injected; the records that it gets are
compared with what the fake device wrote down of its operations.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import (FAKES, LEGACY, check, copies, environment, equal, exported, finish, read,  # noqa
                 run, say, scratch, trace, union)

KERNEL, MEMCPY, MEMSET, SYNC, GRAPH = 10, 1, 2, 38, 51
SMALL = dict(steps=5, wait=1000, kernels=4, kernel=200, marks=0)


def check_truth():
    """Each record is an operation of the device: the durations are equal, the begins but for the clocks' offset."""
    done = trace(dict(SMALL, streams=3))
    equal((done.status, done.err), (0, ""), "exit status")
    offset = min((int(c[2]) - int(c[0]), int(c[0]) - int(c[1])) for c in done.answers("clock"))[1]
    for kind, name in (KERNEL, "kernel"), (MEMCPY, "memcpy"), (MEMSET, "memset"), (SYNC, "sync"):
        true = sorted((op.begin, op.end) for op in done.ops if op.kind == name)
        found = sorted((r.begin, r.end) for r in done.of(kind))
        equal(len(found), len(true), name, "records")
        for (begin, end), (low, high) in zip(true, found):
            check(abs(low - begin + offset) < 1_000_000, name, "begin", low + offset, begin)
            equal(high - low, end - begin, name, "duration")
    equal(union(op for op in done.ops if op.kind == "kernel" and op.stream == LEGACY),
          5 * 2 * 200_000, "kernels of one stream follow one another")
    equal({r.bytes for r in done.of(MEMCPY)}, {2_000_000}, "bytes")
    equal({r.what for r in done.of(MEMCPY)}, {201}, "host to device, from pinned memory")
    equal({r.correlation for r in done.records}, {0}, "nobody asked for correlation")
    # Copies in one direction share an engine, so that each begins after the one before it.
    check(all(a.end <= b.begin for a, b in zip(copies(done.ops), copies(done.ops)[1:])), "engine")


def check_asked():
    """CUPTI gives records only of the kinds, and calls callbacks only of the calls, that were enabled."""
    done = trace(SMALL, CLIENT_KINDS="10")
    equal({r.kind for r in done.records}, {KERNEL}, "kinds")
    equal(done.answers("callbacks"), [["0"]], "callbacks")
    done = trace(SMALL, CLIENT_KINDS="1", CLIENT_CALLBACK=307, CLIENT_TWICE=1)
    equal({r.kind for r in done.records}, {MEMCPY}, "kinds")
    equal(done.answers("callbacks"), [[str(2 * 20)]], "callbacks of a launch")
    equal(done.answers("again"), [["39"]], "a second subscriber")
    check(all(r.correlation for r in done.records), "callbacks bring correlation")
    done = trace(SMALL, CLIENT_KINDS="10", FAKE_CUPTI_RC_ACTIVITYENABLE="27:10")
    equal((done.answers("enable"), done.records), ([["10", "27"]], []), "a kind that fails")
    done = trace(SMALL, FAKE_DRIVER_VERSION=12040)
    equal(done.answers("subscribe"), [["15"]], "newer than the driver")
    done = trace(SMALL, FAKE_CUPTI_RC_SUBSCRIBE=39)
    equal(done.answers("subscribe"), [["39"]], "subscribe")
    done = trace(SMALL, CLIENT_UNSUBSCRIBE=1)
    equal((done.answers("again"), len(done.of(KERNEL))), ([["0"]], 20), "after unsubscribing")
    done = trace(SMALL, CLIENT_UNSUBSCRIBE=1, FAKE_CUPTI_UNSUBSCRIBE_STOPS=1)
    equal(done.records, [], "where that ends the activities")
    done = trace(SMALL, FAKE_CUPTI_VERSION=130000)
    equal({r.what for r in done.of(SYNC)}, {3}, "13.0.0 does not know device syncs")
    done = trace(SMALL, FAKE_CUPTI_KERNEL_SIZE=144)
    equal((len(done.of(KERNEL)), len(done.of(MEMCPY))), (20, 5), "small records")


def check_buffers():
    """Another thread delivers full buffers; a record waits for its operation's end, unless a flush is forced."""
    done = trace(dict(SMALL, steps=40), CLIENT_BUFFER=4096, CLIENT_FLUSH_MS=20)
    requested = {a[0] for a in done.answers("request")}
    delivered = {a[0] for a in done.answers("buffer")}
    equal(len(requested), 1, "one thread asks")
    check(not requested & delivered and len(delivered) == 1, "another one gives", delivered)
    full = [a for a in done.answers("buffer") if int(a[2]) > 4096 - 216]
    check(len(full) > 3, "full buffers", len(full))
    equal(len(done.of(KERNEL)), 160, "kernels")
    # A kernel of 150 ms runs while the tracer flushes every 10 ms.
    slow = dict(SMALL, steps=1, kernels=1, kernel=150000)
    done = trace(slow, CLIENT_FLUSH_MS=10)
    kernel, = done.of(KERNEL)
    check(kernel.end - kernel.begin == 150_000_000, "kept back until it has ended")
    # Two kernels of 800 ms: the forced flush at 200 ms comes during the first, on a busy machine as well.
    done = trace(dict(slow, kernels=2, kernel=800000), CLIENT_FORCE_MS=200)
    kernel, queued = done.of(KERNEL)
    check(kernel.begin and not kernel.end, "forced out while it ran: no end, and never again")
    equal((queued.begin, queued.end), (0, 0), "forced out before it ran")
    done = trace(dict(SMALL, steps=60, wait=4000), FAKE_CUPTI_DELAY_MS=120, CLIENT_FLUSH_MS=10,
                 CLIENT_BUFFER=4096)
    first = min(int(a[1]) for a in done.answers("buffer"))
    check(120_000_000 < first - done.ops[0].end, "late", first - done.ops[0].end)


def check_locks():
    """The fake CUPTI does not hang with FAKE_CUPTI_LOCK, under a tracer that is written right."""
    done = trace(dict(SMALL, steps=60), CLIENT_BUFFER=4096, CLIENT_FLUSH_MS=5, FAKE_CUPTI_LOCK=1)
    equal((done.status, len(done.of(KERNEL))), (0, 240), "status, kernels", done.err)


def check_faults():
    done = trace(SMALL, FAKE_CUPTI_ZERO_EVERY=7)
    zero = [r for r in done.records if not r.begin]
    equal(len(zero), len(done.records) // 7, "records without times")
    done = trace(SMALL, FAKE_CUPTI_DROP_EVERY=5)
    true = len(done.ops)
    equal(done.answers("dropped"), [[str(true // 5)]], "dropped")
    equal(len(done.records), true - true // 5, "what is left")
    done = trace(SMALL, FAKE_CUPTI_OUT_OF_ORDER=1, CLIENT_KINDS="10")
    begins = [r.begin for r in done.records]
    check(begins != sorted(begins) and len(begins) == 20, "out of order")
    done = trace(dict(SMALL, steps=40, wait=5000), CLIENT_BUFFER=4096, FAKE_REALTIME_STEP_S=3600,
                 FAKE_REALTIME_STEP_AT_MS=100)
    begins = sorted(r.begin for r in done.of(KERNEL))
    jumps = [b - a for a, b in zip(begins, begins[1:]) if b - a > 3_000_000_000_000]
    equal(len(jumps), 1, "one hour later")


def check_graphs():
    plan = dict(SMALL, graph=1, driver=0)
    done = trace(plan)
    equal((len(done.of(KERNEL)), len(done.of(GRAPH))), (20, 0), "nodes")
    equal(len({r.graph for r in done.of(KERNEL)}), 1, "one graph")
    done = trace(plan, CLIENT_KINDS="10,1,2,38,51", FAKE_CUPTI_CORRELATION=1)
    equal((len(done.of(KERNEL)), len(done.of(GRAPH))), (0, 5), "wholes")
    wholes = [r.end - r.begin for r in done.of(GRAPH)]
    true = [op.end - op.begin for op in done.ops if op.kind == "graph"]
    equal(wholes, true, "from the first node to the end of the last")
    check(all(w > 4 * 200_000 + 4000 for w in wholes), "gaps between nodes are in it", wholes)
    equal(len({r.correlation for r in done.of(GRAPH)}), 5, "a launch, an id")


def check_symbols():
    for version in 12, 13:
        folder = os.path.join(FAKES, "v{}".format(version))
        for name, symbol in ("cupti", "cuptiSubscribe"), ("cudart", "cudaMemcpyAsync"):
            soname = "lib{}.so.{}".format(name, version)
            names = exported(os.path.join(folder, soname))
            check("{}@@{}".format(symbol, soname) in names, soname, "has versioned symbols")
    names = exported(os.path.join(FAKES, "v13", "libcudart.so.13"))
    check("__cudaLaunchKernel_ptsz@@libcudart.so.13" in names, "what nvcc 13 calls")


def check_child():
    """A forked child of a process that uses CUDA hangs when it calls CUPTI."""
    folder = scratch()
    program = ("import ctypes, os, signal\n"
               "cuda = ctypes.CDLL('libcuda.so.1'); print(cuda.cuInit(0))\n"
               "cupti = ctypes.CDLL('libcupti.so.13'); print(cupti.cuptiActivityEnable(10))\n"
               "signal.alarm(1) if not os.fork() else print(os.wait()[1])\n"
               "cupti.cuptiActivityFlushAll(1)\n")
    done = run(["/usr/bin/python3", "-c", program],
               env=environment(preload=False, FAKE_LOG=os.path.join(folder, "calls"),
                               LD_LIBRARY_PATH="{0}:{0}/v13".format(FAKES)))
    equal(done.out.split(), ["0", "0", "14"], "the child hangs", done.err)
    check(any("in a forked child" in line for line in read(folder, "calls")), "and is told on")


def main():
    check_truth()
    check_asked()
    check_buffers()
    check_locks()
    check_faults()
    check_graphs()
    check_symbols()
    check_child()
    finish()


main()
