# SPDX-License-Identifier: Apache-2.0
"""A training whose time goes to three functions, or one whose worker comes to a stop.

usage: lines_host.py shares WORKERS TRUTH | stop KIND | gaps
Into the folder TRUTH goes what part of the loads and of the steps each function took.
"""
import json
import os
import socket
import sys
import threading
import time

from torch.utils.data import DataLoader

SECONDS = {}


def timed(function):
    def call(seconds):
        begin = time.perf_counter()
        function(seconds)
        name = function.__name__
        SECONDS[name] = SECONDS.get(name, 0) + time.perf_counter() - begin
    return call


@timed
def computes(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(range(50))


@timed
def looks_up(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        str(seconds).upper()


@timed
def sleeps(seconds):
    time.sleep(seconds)


def tell(what):
    with open(os.path.join(sys.argv[3], what), "w") as file:
        json.dump(SECONDS, file)


class Shares:
    def __len__(self):
        return 600

    def __getitem__(self, i):
        computes(0.006)
        looks_up(0.003)
        sleeps(0.001)
        if i == len(self) - 1:
            tell("load")
        return i


def in_recv():
    one, _other = socket.socketpair()
    one.recv(1)


def in_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def in_sleep():
    time.sleep(1000)


def in_loop():
    while True:
        pass


class Few:
    def __len__(self):
        return 40

    def __getitem__(self, i):
        return i


def gaps():
    """Three epochs, with two validations within the second one and one behind each: computes() lies between
    the epochs of both loaders, looks_up() within those of the training."""
    train, held = (DataLoader(Few(), 4, num_workers=1, collate_fn=list) for _ in range(2))
    for epoch in range(3):
        for i, _ in enumerate(train):
            looks_up(0.1)
            if epoch == 1 and i in (2, 7):
                list(held)
        computes(0.7)
        list(held)
        computes(0.7)


class Stops:
    def __len__(self):
        return 1000

    def __getitem__(self, i):
        if i == 60:
            globals()["in_" + sys.argv[2]]()
        time.sleep(0.002)
        return i


def main():
    if sys.argv[1] == "stop":
        for _ in DataLoader(Stops(), 4, num_workers=2, collate_fn=list):
            pass
        return
    if sys.argv[1] == "gaps":
        return gaps()
    workers = int(sys.argv[2])
    for _ in DataLoader(Shares(), 4, num_workers=workers, collate_fn=list):
        if workers:
            computes(0.012)
            looks_up(0.006)
            sleeps(0.002)
    if workers:
        tell("step")


main()
