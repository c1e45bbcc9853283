# SPDX-License-Identifier: Apache-2.0
"""Writes corpus/segment/seed-*: descriptions (see segment.c) of runs as they are.

What a fuzzer adds is kept by its own names; this is how the first ones came to be.
"""
import os
import struct

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "segment")
EPOCH, BATCH, STOP, WORKER, LOAD, OP, MARK, GPU_OPS, GPU_COPIES, GPU_STATE = range(1, 11)
ATTACHED, HOST, COMPLETE, GAP_BEGIN, GAP_END = range(5)
WITH_KERNELS, WITH_CALLS = 2, 4
KERNEL, H2D, SYNC_STREAM = 1 << 28, 5 << 28, 9 << 28
MS = 1000000
LOOK = 0x40
LOCAL = 1 << 63


def event(kind, body=b"", worker=-1, begin=0, duration=0, stream=4711, generation=0, task=0,
          flags=0):
    head = struct.pack("<HHiQQQII", kind, flags, worker, begin * MS, duration * MS, stream,
                       generation, task)
    return head + body.ljust(88, b"\0")


def epoch(workers=2, number=0, flags=1, **rest):
    return event(EPOCH, struct.pack("<IIiiqII40s", 1, number, workers, 2, 32, flags, 0,
                                    b"torch.DataLoader"), **rest)


def batch(task, begin, wait, **rest):
    return event(BATCH, struct.pack("<QQQQQi", task, begin * MS, (begin + wait) * MS, MS, 0, 1),
                 begin=begin, duration=wait, task=task, **rest)


def load(task, begin, length, worker=0, **rest):
    return event(LOAD, struct.pack("<QQQQQQQQIIIIII", 5 * MS, 9 * MS, 0, MS, MS, 3000, 0, 0, 1, 3,
                                   2 ** 32 - 1, 32, 0, 1),
                 worker=worker, begin=begin, duration=length, task=task, **rest)


def operation(name=b"read", path=b"/data/1.jpg", class_=1):
    return event(OP, struct.pack("<QII16s56s", 4096, 3, class_, name, path), begin=3, duration=20)


def gpu_state(state, begin, flags=WITH_KERNELS | WITH_CALLS, why=b""):
    return event(GPU_STATE, struct.pack("<IIQQQQQ40s", state, flags, 9, 0, 0, 0, 0, why), worker=0,
                 begin=begin)


def gpu_ops(begin, *lengths, what=KERNEL):
    return event(GPU_OPS, struct.pack("<I", len(lengths)) + b"".join(
        struct.pack("<III", i * MS, length * MS, what) for i, length in enumerate(lengths)),
        worker=0, begin=begin, duration=lengths[0])


def gpu_copy(begin, length, size):
    return event(GPU_COPIES, struct.pack("<IIIIII", 1, 0, 0, H2D, size, 0), worker=0, begin=begin,
                 duration=length)


def run(records, options=0, slots=bytes(4), patch=b""):
    text = bytes([options]) + patch + slots
    for control, record in records:
        text += bytes([control]) + record
    return text


def epoch_of(count, stream=4711, generation=0, number=0, look=LOOK):
    yield 0, epoch(stream=stream, generation=generation, number=number)
    yield 1, event(WORKER, worker=0, stream=stream, generation=generation)
    for task in range(count):
        rest = {"stream": stream, "generation": generation}
        yield 1, load(task, 100 * task + 10, 60, **rest)
        yield look, batch(task, 100 * task, 80, **rest)
    yield 0, event(STOP, begin=100 * count, stream=stream, generation=generation)


def ring(head, tail, lost):
    return b"\1" + struct.pack("<QQQ", head, tail, lost)


def far_ring(head, tail, lost, far_from):
    return b"\3" + struct.pack("<QQQQ", head, tail, lost, far_from)


def tally(kind, name):
    return struct.pack("<IIQQQQQQQ136s48s8x", 2, kind, 1, 3, 70 * MS, 5, 2 ** 64 - 1, 9 * MS, 0, name,
                       b"detail")


def patches(*places):
    """Four of them, anywhere in the header."""
    return b"".join(struct.pack("<H8s", at, content) for at, content in places)


SEEDS = {
    "epoch": run(epoch_of(3)),
    "two-epochs": run(list(epoch_of(2, look=0)) + list(epoch_of(2, generation=1, number=1))),
    "two-loaders": run(list(epoch_of(2)) + list(epoch_of(1, stream=LOCAL | 1))),
    "unannounced": run(list(epoch_of(3))[2:]),
    "no-order": run([(0, epoch(flags=0)), (0, load(1, 10, 5)), (LOOK, batch(1, 12, 9)),
                     (0, load(0, 1, 50)), (0, batch(0, 60, 9))]),
    "operations": run([(0, operation()), (2, operation(b"x" * 16, b"y" * 56, 9))]),
    "gpu": run([(0, gpu_state(ATTACHED, 0)), (0, gpu_ops(85, 3, 2, 9)), (0, gpu_copy(81, 4, 600000)),
                (2, gpu_ops(97, 3, what=SYNC_STREAM)),
                (0, gpu_state(GAP_BEGIN, 150, why=b"taken")), (0, gpu_state(GAP_END, 160))] +
               list(epoch_of(3)) + [(LOOK, gpu_state(COMPLETE, 400))]),
    "gpu-idle": run([(0, gpu_state(ATTACHED, 0))] + list(epoch_of(2)) +
                    [(LOOK, gpu_state(COMPLETE, 400))]),
    "gpu-host": run([(0, gpu_state(HOST, 0))] + list(epoch_of(2))),
    "failed": run([(0, epoch()), (1, load(0, 1, 2, flags=1)), (LOOK, event(STOP, flags=1)),
                   (0, batch(1, 5, 5))]),
    "root": run(epoch_of(1), options=16),
    "killed-drain": run(epoch_of(2), options=8),
    "cut-short": run([], options=2, slots=bytes(4) + struct.pack("<I", 9000)),
    "cut-later": run(epoch_of(2), options=4),
    "far-head": run([(0, epoch())], slots=ring(2 ** 40, 0, 7) + bytes(3)),
    "wrapped": run(epoch_of(2), slots=ring(2047, 2047, 0) + ring(2 ** 64 - 2, 2 ** 64 - 2, 1) +
                   bytes(2)),
    "patched": run(epoch_of(1), options=1,
                   patch=patches((32, b"\xff" * 8), (40, b"\x80" * 8), (80, b"\x7f" * 8),
                                 (1320, b"\xff" * 8))),
    "other-process": run(epoch_of(1), options=1,
                         patch=patches((56, b"\xff" * 8), (64, b"\1" * 8), (72, b"\1" * 8),
                                       (120, b"\xff" * 8))),
    "far": run(epoch_of(3), slots=far_ring(258, 258, 0, 259) + far_ring(2047, 2047, 0, 256) +
               bytes(2)),
    "far-from-nowhere": run(epoch_of(2), slots=far_ring(2300, 300, 0, 2 ** 64 - 1) +
                            far_ring(2300, 300, 0, 800) + far_ring(5, 2 ** 64 - 5, 0, 2) +
                            far_ring(600, 300, 1, 1)),
    "notes": run([(LOOK, epoch())], options=32,
                 patch=b"wbad\n+torch.x\n-torch.y\n\ni\n".ljust(48, b"\n")),
    "decoders": run([(LOOK, epoch())], options=32,
                    patch=b"dlibjpeg\ndlibpng\nd\ndlibjpeg\n".ljust(48, b"\n")),
    "no-end-of-notes": run([], options=32, patch=b"\n".ljust(48, b"x")),
    "tallies": run(epoch_of(1), options=64, slots=bytes(4) + b"\4" + b"".join(
        bytes([place]) + tally(kind, name) for place, kind, name in
        ((0, 1, b"libjpeg"), (1, 2, b"n" * 136), (64, 3, b"/data/1.jpg"), (144, 5, b"")))),
    "not-a-segment": b"PROFSEG1" + bytes(40),
}


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name, content in SEEDS.items():
        with open(os.path.join(FOLDER, "seed-" + name), "wb") as file:
            file.write(content)


main()
