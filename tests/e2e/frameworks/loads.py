# SPDX-License-Identifier: Apache-2.0
"""Loops over loaders with workers. usage: loads.py CASE. Prints when each sample was loaded, and by whom."""
import os
import sys
import time

from driver import drain, now

case = sys.argv[1] if len(sys.argv) > 1 else "gluon"
BATCH, SAMPLES = 4, 48


def say(*numbers):
    os.write(1, b"\nBATCH %s\n" % " ".join(map(str, numbers)).encode())


class Samples:
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        begin = now()
        time.sleep(.03 if index == 17 else .002)
        os.write(1, b"\nSAMPLE %d %d %d %d\n" % (index, os.getpid(), begin, now()))
        return index


class Stream:                               # of the second worker it is shorter
    def __iter__(self):
        from paddle.io.dataloader.worker import place
        first = place[0] * 24 if place else 0   # [] without workers
        for index in range(first, first + 24 - first // 3):
            yield Samples()[index]


def gluon():
    from mxnet.gluon.data.dataloader import DataLoader
    options = {"gluon": {}, "gluon_threads": {"thread_pool": True}, "gluon_alone": {"num_workers": 0},
               "gluon_late": {"prefetch": 0}, "gluon_reload": {"auto_reload": True}}.get(case, {})
    loader = DataLoader(Samples(), BATCH, **dict({"num_workers": 2}, **options))
    if case == "gluon_twice":               # two iterators of one loader side by side
        both = [iter(loader), iter(loader)]
        drain(lambda: say(next(both[0])[0], next(both[1])[0]))
        return
    for limit in (5, 5, 99) if case == "gluon_left" else (99, 99, 99):
        items = iter(loader)
        drain(lambda: say(next(items)[0]), limit)


def paddle():
    from paddle.io.reader import DataLoader
    dataset = Stream() if case.startswith("paddle_stream") else Samples()
    loader = DataLoader(dataset, BATCH, num_workers=0 if case.endswith("alone") else 2,
                        persistent_workers=case.endswith("persistent"))
    for limit in 99, 5, 99:
        items = iter(loader)
        drain(lambda: say(next(items)[0]), limit)


gluon() if case.startswith("gluon") else paddle()
