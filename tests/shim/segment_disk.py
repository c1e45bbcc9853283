# SPDX-License-Identifier: Apache-2.0
"""Segments take little of a disk, and where the disk is full only records are lost.

On a full disk a page of a mapped file that has no block raises SIGBUS, as PyTorch's users know from
/dev/shm. A program must never get it because of dlprof.
"""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         rows, run, say, scratch, wait_for_drain)

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "sleeper.py")
MOST_BYTES = 512 * 1024
START_TIMEOUT_S = 60

# Begins to record, waits until the disk is full, and then needs more rings than the segment has blocks for.
HOST = """
import os, sys, threading, time
folder = sys.argv[1]
fd = os.open("data", os.O_RDONLY)
os.pread(fd, 10, 0)
print("records", flush=True)
sys.stdin.readline()

def work():
    for i in range(4000):
        file = os.open("data", os.O_RDONLY)
        assert os.pread(file, 10, 0) == b"0123456789"
        os.close(file)

threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads: thread.start()
for _ in range(3):
    pid = os.fork()
    if not pid:
        work()
        os._exit(5)
    assert os.waitpid(pid, 0)[1] == 5 << 8
for thread in threads: thread.join()
work()
print("ended", flush=True)
"""

# Its threads: one opens a file that is no data, one makes a file, one opens data, as the main thread does.
THREADS = """
import os, sys, threading
os.close(os.open("data", os.O_RDONLY))
ended = threading.Event()

def work(path, flags):
    os.close(os.open(path, flags))
    os.write(1, b"%d\\n" % threading.get_native_id())
    ended.wait()

for path, flags in (("/dev/shm/torch_1_2_3", os.O_RDWR | os.O_CREAT),
                    ("made", os.O_RDWR | os.O_CREAT | os.O_EXCL), ("data", os.O_RDONLY)):
    threading.Thread(target=work, args=(path, flags)).start()
sys.stdin.readline()
os.unlink("/dev/shm/torch_1_2_3")
ended.set()
"""


def segments(folder):
    """Returns {name of a segment: bytes that it takes on the disk}."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".seg"):
                try:
                    found[name] = os.stat(os.path.join(path, name)).st_blocks * 512
                except OSError:
                    pass
    return found


def check_size(workers):
    folder = scratch()
    plan = {"workers": workers, "load_s": 0.004, "step_s": 0.002, "batches": 300}
    database = os.path.join(folder, "run.db")
    process = subprocess.Popen(
        [PYTHON, "-W", "ignore", SLEEPER, os.path.join(folder, "log"), json.dumps(plan)],
        env=environment(DLPROF_OUT=database, TMPDIR=folder, DLPROF_QUIET=1),
        stdout=subprocess.DEVNULL)
    most = {}
    while process.poll() is None:
        for name, size in segments(folder).items():
            most[name] = max(size, most.get(name, 0))
        time.sleep(0.02)
    name = "{} workers:".format(workers)
    equal(process.wait(), 0, name, "exit status")
    wait_for_drain(database)
    say(name, sorted(most.values()))
    equal(len(most), 1 + workers, name, "segments", most)
    check(max(most.values(), default=0) <= MOST_BYTES, name, "bytes of each segment", most)
    equal(rows(database, "SELECT * FROM loss WHERE what = 'events'"), [], name, "lost")


def check_threads():
    """Only threads that have something to record get a slot, and take disk space for it."""
    folder = scratch()
    database = os.path.join(folder, "run.db")
    with open(os.path.join(folder, "data"), "w") as data:
        data.write("0123456789")
    process = subprocess.Popen([PYTHON, "-c", THREADS], cwd=folder, env=environment(
        DLPROF_OUT=database, TMPDIR=folder, DLPROF_ACTIVATE="always", DLPROF_QUIET=1),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    numbers = [int(process.stdout.readline()) for _ in range(3)]
    owners = [number.to_bytes(4, sys.byteorder) for number in (process.pid, *sorted(numbers))]
    segment = [os.path.join(path, name) for path, _, names in os.walk(folder)
               for name in names if name.endswith(".seg")]
    with open(segment[0], "rb") as file:
        header = file.read(4096)
    equal([owner in header for owner in owners], [True, False, False, True], "have a slot")
    process.communicate(b"\n", timeout=60)
    equal(process.returncode, 0, "exit status")
    wait_for_drain(database)
    opened = rows(database, "SELECT SUM(count) AS n FROM file WHERE path = 'data'")
    equal(opened[0]["n"], 2, "opened files")


def fill(folder):
    with open(os.path.join(folder, "filler"), "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(bytes(size)):
                    pass
            except OSError:
                pass


def check_full(detail):
    disk, folder = scratch(), scratch()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk],
                      stderr=subprocess.DEVNULL).returncode:
        say("no tmpfs may be mounted: the full disk is not tried")
        return
    try:
        with open(os.path.join(folder, "data"), "w") as data:
            data.write("0123456789")
        database = os.path.join(folder, "run.db")
        process = subprocess.Popen([PYTHON, "-c", HOST, folder], cwd=folder, env=environment(
            DLPROF_OUT=database, DLPROF_SEGMENT_DIR=disk, DLPROF_ACTIVATE="always",
            DLPROF_DETAIL=detail, DLPROF_QUIET=1), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        equal(process.stdout.readline(), b"records\n", detail, "the program begins")
        fill(disk)
        out, _ = process.communicate(b"\n", timeout=120)
        equal((process.returncode, out), (0, b"ended\n"), detail, "the program")
        wait_for_drain(database)
        lost = rows(database, "SELECT SUM(count) AS n FROM loss WHERE what = 'events'")[0]["n"]
        say(detail, lost, "lost")
        check(lost, detail, "what was not recorded was not counted")
        equal(os.listdir(disk), ["filler"], detail, "left on the disk")
    finally:
        subprocess.run(["umount", "-l", disk])


def main():
    need_shim()
    check_threads()
    check_full("slow")
    check_full("all")
    need_torch()
    for workers in (0, 2):
        check_size(workers)
    finish()


main()
