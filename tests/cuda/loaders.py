# SPDX-License-Identifier: Apache-2.0
"""Kernels of a loader on the GPU (DALI, nvJPEG, a thread with its own stream) do not count as a busy GPU.

usage: loaders.py CASE... The host waits four fifths of the time for batches that are made on the GPU. The
right busy time is that in which kernels of the training itself run.
"""
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import busy, check, equal, finish, loop, near, need_shim, report, say, union  # noqa

PLAN = dict(steps=150, wait=8000, kernels=10, kernel=200, memset=0, gpu_loader=900)


def of_loader(op):
    return any(mark in op.name for mark in ("nvjpeg", "dali", "nvimgcodec", "mega_fused"))


def judged(name, plan, **changes):
    done = loop(plan, timeout=120, **changes)
    equal((done.status, done.misuse()), (0, []), name, "status, misuse", done.err)
    kernels = busy(done.ops)
    whole = max(op.end for op in kernels) - min(op.begin for op in kernels)
    waits = done.query("SELECT SUM(wait_ns) AS w, SUM(step_ns) AS s FROM batch WHERE step_ns NOT NULL")[0]
    said = json.loads(report("--json", done.database).out)
    say(name, "the host waits {:.0%}, the GPU is busy {:.0%}, with the training {:.0%}: {} {:.1%} by the {}'s clock"
        .format(waits["w"] / waits["s"], union(kernels) / whole,
                union([op for op in kernels if not of_loader(op)]) / whole, said["verdict"],
                said["stall"]["ratio"], said["clock"]))
    return done, said


def masked(done):
    return [n["text"] for n in done.query("SELECT text FROM note WHERE text LIKE '%while only other streams%'")]


def told_apart(name, plan, ratio=0.5, **changes):
    done, said = judged(name, plan, **changes)
    equal((said["verdict"], said["clock"]), ("highly_input_bound", "gpu"), name, "verdict")
    check(said["stall"]["ratio"] > ratio, name, "ratio", said["stall"]["ratio"])
    for row in done.query("SELECT * FROM gpu_step WHERE step_ns NOT NULL"):
        begin, end = row["begin_ns"], row["begin_ns"] + row["step_ns"]
        mine = [op for op in busy(done.ops) if not of_loader(op)]
        near(row["gpu_busy_ns"], union(mine, begin, end), name, "busy", row["batch"], slack=60_000)
        theirs = [op for op in busy(done.ops) if of_loader(op)]
        near(row["gpu_loading_ns"], union(theirs, begin, end), name, "loading", row["batch"], slack=60_000)
    text = " ".join(report("-v", done.database).out.split())
    check("loading" in text and "not counted as busy: kernels of a GPU loader" in text, name, text)
    return done


def named(name):
    told_apart(name, PLAN)


def named_12(name):
    """A loader's kernels are told apart by their names with CUDA 12 too, whose records name no thread."""
    told_apart(name, PLAN, cuda=12)


def unnamed(name):
    """Kernels without a loader's name are told apart by their thread, which does not train."""
    equal(masked(told_apart(name, dict(PLAN, named=0))), [], name, "masked")


def mixed(name):
    """Most of the loader's kernels have no loader's name and CUDA 12 names no thread: the host's clock decides."""
    done, said = judged(name, dict(PLAN, named=2), cuda=12)
    equal((said["verdict"], said["clock"]), ("highly_input_bound", "host"), name, "verdict")
    equal([n["text"].split(", so")[0] for n in done.query("SELECT text FROM note WHERE text LIKE '%GPU loader%'")],
          ["a GPU loader shares a stream with the training"], name, "note")


def unnamed_12(name):
    """With CUDA 12 a loader's kernels without a loader's name count as the training's, and a note says so."""
    done, said = judged(name, dict(PLAN, named=0), cuda=12)
    equal((said["clock"], len(masked(done))), ("gpu", 1), name, "clock, notes")
    check(said["stall"]["ratio"] < 0.2, name, "the waits are not masked", said["stall"]["ratio"])
    waits = done.query("SELECT SUM(wait_ns) AS w, SUM(step_ns) AS s FROM batch WHERE step_ns NOT NULL")[0]
    near(int(masked(done)[0].split()[1]) / 100 + said["stall"]["ratio"], waits["w"] / waits["s"], name,
         "masked and idle are not the wait", slack=0.08)


def own_streams_12(name):
    """A training on four streams, whose host is ahead or waits for data, gets no note on other streams."""
    for plan in dict(wait=1000, backward=1000), dict(wait=8000), dict(wait=2000, kernel=900):
        done = loop(dict(PLAN, gpu_loader=0, streams=4, kernels=40, **plan), timeout=120, cuda=12)
        equal((done.status, masked(done)), (0, []), name, "status, notes", plan)


def backward(name):
    """A thread that launches on a stream of the training, as autograd's does, is not taken for a loader."""
    done, said = judged(name, dict(PLAN, gpu_loader=0, streams=4, backward=1000, wait=1000, kernels=40))
    for row in done.query("SELECT * FROM gpu_step WHERE step_ns NOT NULL"):
        equal(row["gpu_loading_ns"], 0, name, "loading", row["batch"])
        near(row["gpu_busy_ns"], union(busy(done.ops), row["begin_ns"], row["begin_ns"] + row["step_ns"]),
             name, "busy", row["batch"], slack=60_000)


CASES = {"named": named, "named-12": named_12, "unnamed": unnamed, "unnamed-12": unnamed_12, "mixed-12": mixed,
         "own-streams-12": own_streams_12, "backward": backward}


def main():
    need_shim()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: CASES[name](name), sys.argv[1:]))
    finish()


main()
