# SPDX-License-Identifier: Apache-2.0
"""What recording the stages of tf.data costs an element: CPU time of one process that records in every other block.

TEST_TENSORFLOW names a virtual environment with TensorFlow. An iterator with map(), batch() and prefetch() is asked for
batches in TEST_PAIRS (100) pairs of blocks of random order, of which one is recorded: of elements of nothing, and of
images that are decoded and resized. "off" are pairs of which neither is recorded: the noise. The script sets the word by
which the library knows whether it records. It asks TensorFlow itself for batches: in next() a loader begins to record.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import SHIM, check, environment, equal, finish, need_shim, rows, run, say, scratch, skip, wait_for_drain  # noqa: E402

SCRIPT = """
import ctypes, random, statistics, sys, time
import tensorflow as tf
offset, pairs = int(sys.argv[1], 16), int(sys.argv[2])
base = next(int(line.split("-")[0], 16) for line in open("/proc/self/maps") if "libdlprof.so" in line)
def images(side):
    image = tf.io.encode_jpeg(tf.cast(tf.random.uniform((side, side, 3), 0, 255, tf.int32), tf.uint8))
    return lambda x: tf.image.resize(tf.io.decode_jpeg(image, channels=3), (side // 2, side // 2))
works = {"x + 1": (5, 1000, lambda x: x + 1), "an image of 64 pixels": (48, 16, images(64)),
         "an image of 160 pixels": (24, 16, images(160))}
for name, (batches, size, work) in works.items():
    left = iter(tf.data.Dataset.range(10 ** 9).map(work, num_parallel_calls=2).batch(size).prefetch(2))
    next(left)
    shapes = [one.shape for one in tf.nest.flatten(left.element_spec)]
    def take():
        tf.raw_ops.IteratorGetNext(iterator=left._iterator_resource, output_types=[left.element_spec.dtype],
                                   output_shapes=shapes)
    for _ in range(4 * batches):
        take()
    word = ctypes.c_uint32.from_address(ctypes.c_void_p.from_address(base + offset).value)
    life = word.value
    assert life, "nothing is recorded"
    def cpu_ns(records):
        word.value = life if records else 0
        take(), take(), take()
        begin = time.process_time_ns()
        for _ in range(batches):
            take()
        return (time.process_time_ns() - begin) / batches / size
    for kind in ("on", "off") if size == 1000 else ("on",):
        without, more = [], []
        for _ in range(pairs):
            if random.random() < 0.5:
                bare, other = cpu_ns(False), cpu_ns(kind == "on")
            else:
                other, bare = cpu_ns(kind == "on"), cpu_ns(False)
            without.append(bare)
            more.append(other - bare)
        low, middle, high = statistics.quantiles(more, n=4)
        bare = statistics.median(without)
        print("{}, {}: {:.0f} ns an element {:+.0f} ns, {:+.2f} % (quartiles {:+.0f}, {:+.0f}; mean {:+.0f}, error {:.0f})"
              .format(name, kind, bare, middle, 100 * middle / bare, low, high, statistics.mean(more),
                      statistics.stdev(more) / pairs ** 0.5))
    word.value = life
    del left
"""


def main():
    if not os.environ.get("TEST_TENSORFLOW"):
        skip("TEST_TENSORFLOW names no virtual environment with a TensorFlow")
    need_shim()
    symbols = run(["nm", SHIM]).out
    out = os.path.join(scratch(), "run.db")
    done = run([os.path.join(os.environ["TEST_TENSORFLOW"], "bin", "python"), "-c", SCRIPT,
                re.search(r"^(\w+) \w activate_cell$", symbols, re.M).group(1), os.environ.get("TEST_PAIRS", "100")],
               env=environment(DLPROF_OUT=out, DLPROF_QUIET="1", TF_CPP_MIN_LOG_LEVEL="3"), timeout=600)
    equal(done.status, 0, "exit status", done.err[-2000:])
    say(done.out.rstrip())
    wait_for_drain(out)
    check(rows(out, "SELECT 1 FROM stage WHERE name = 'Root'"), "no stages were recorded")
    finish()


main()
