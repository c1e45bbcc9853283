# SPDX-License-Identifier: Apache-2.0
"""dlprof records for what loads are blocked: kind, other side and bytes of waits that the test plants.

usage: waits.py SLOW_SYNC [FOLDER]: with FOLDER the program, of which each batch waits in one way; without
it the test, which runs the program with the library of slow_sync.c.
"""
import ctypes
import fcntl
import mmap
import multiprocessing
import os
import queue
import resource
import select
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         rows, run, scratch, wait_for_drain)

WAIT_S = 0.08
REPLY = b"x" * 50000
LONG = 1 << 20  # more bytes than a pipe, a socket or a terminal has room for
WRITE_LEAST_NS = 100_000  # what a write takes in which somebody else gets the core, and counts as a wait
SOON_S = WAIT_S + 0.25  # the other side is late by so much, so that the recorded call has begun by then


def later(function, *arguments):
    thread = threading.Thread(target=lambda: (time.sleep(WAIT_S), function(*arguments)))
    thread.start()
    return thread


def sleep(state):
    time.sleep(WAIT_S)


def select_nothing(state):
    select.select([], [], [], WAIT_S)


def shared_lock(state):
    with state["lock"]:
        pass


def shared_lock_with_limit(state):
    assert state["lock"].acquire(timeout=5)
    state["lock"].release()


def private_lock(state):
    lock = threading.Lock()
    lock.acquire()
    later(lock.release)
    lock.acquire()


def join(state):
    later(lambda: None).join()


def condition(state):
    try:
        queue.Queue().get(timeout=WAIT_S)
    except queue.Empty:
        pass


def server(state):
    with socket.create_connection(("127.0.0.1", state["port"]), timeout=state["timeout"]) as client:
        client.sendall(b"?")
        left = len(REPLY)
        while left:
            left -= len(client.recv(left))


def server_with_limit(state):
    server(dict(state, timeout=5))


def server_by_thread(state):
    thread = threading.Thread(target=server, args=(state,))
    thread.start()
    thread.join()


def server_by_read(state):
    with socket.create_connection(("127.0.0.1", state["port"])) as client:
        client.sendall(b"?")
        assert os.read(client.fileno(), 100)


def server_by_epoll(state):
    with socket.create_connection(("127.0.0.1", state["port"])) as client:
        with select.epoll() as poll:
            poll.register(client, select.EPOLLIN)
            client.sendall(b"?")
            assert poll.poll(5)


def server_of_six(state):
    with socket.create_connection(("::1", state["port6"])) as client:
        client.sendall(b"?")
        assert client.recv(100)


def local_server(state):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(state["local"])
        client.sendall(b"?")
        assert client.recv(100)


def pipe(state):
    ours, theirs = os.pipe()
    later(os.write, theirs, b"12345")
    assert os.read(ours, 100) == b"12345"


def program(state):
    assert subprocess.call(["sleep", str(WAIT_S)]) == 0


def shell(state):
    assert os.system("sleep {}".format(WAIT_S)) == 0


def piped_shell(state):
    libc = ctypes.CDLL(None)
    libc.popen.restype = ctypes.c_void_p
    stream = libc.popen("sleep {}".format(WAIT_S).encode(), b"r")
    assert libc.pclose(ctypes.c_void_p(stream)) == 0


def synced(state):
    os.fsync(state["synced"])


def file_lock(state):
    with open(state["locked"]) as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def record_lock(state):
    with open(state["locked"], "r+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)


def until_locked(lock):
    while True:
        try:
            return lock()
        except OSError:
            time.sleep(0.02)


def polled_lock(state):
    with open(state["locked"]) as file:
        until_locked(lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB))


def polled_record_lock(state):
    with open(state["locked"], "r+") as file:
        until_locked(lambda: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB))


def polled_lock_file(state):
    os.close(until_locked(lambda: os.open(state["made"], os.O_CREAT | os.O_EXCL | os.O_WRONLY)))
    os.unlink(state["made"])


def lock_given_up(state):
    """Tries the lock once, sleeps, and does not try again: that sleep is no wait for the lock."""
    try:
        os.open(state["made"], os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        time.sleep(WAIT_S)


def write_late(read_end, write):
    """Writes more bytes than there is room for; another thread reads them later."""
    def take(left):
        while left:
            left -= len(os.read(read_end, min(left, 1 << 16)))

    thread = later(take, LONG)
    left = LONG
    while left:
        left -= write(bytes(left))
    thread.join()


def full_pipe(state):
    write_late(state["full"][0], lambda data: os.write(state["full"][1], data))


def full_socket(state):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        write_late(theirs.fileno(), ours.send)


def full_terminal(state):
    write_late(state["terminal"][0], lambda data: os.write(state["terminal"][1], data))


def page_faults(state):
    """Reads the load's file through a map, so that each page comes from the disk by a fault."""
    with open(state["mapped"], "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            mapped.madvise(mmap.MADV_RANDOM)
            before = resource.getrusage(resource.RUSAGE_THREAD).ru_majflt
            sum(mapped[i] for i in range(0, len(mapped), mmap.PAGESIZE))
            print("faults", resource.getrusage(resource.RUSAGE_THREAD).ru_majflt - before)


def pipe_with_room(state):
    """Writes to a pipe with room, which takes no time: only the sleep is a wait. Prints which writes lasted."""
    took = []
    for _ in range(100):
        begin = time.monotonic_ns()
        os.write(state["roomy"][1], b"line\n")
        took.append(time.monotonic_ns() - begin)
    print("lasted", sum(ns >= WRITE_LEAST_NS for ns in took))
    time.sleep(WAIT_S)


try:
    socket.socket(socket.AF_INET6).bind(("::1", 0))
    SIX = [server_of_six]
except OSError:
    SIX = []
ACTS = SIX + [sleep, select_nothing, shared_lock, shared_lock_with_limit, private_lock, join, condition,
        server, server_with_limit, server_by_thread, server_by_read, server_by_epoll, local_server, pipe, program, shell,
        piped_shell, synced, file_lock, record_lock, polled_lock, polled_record_lock, polled_lock_file,
        lock_given_up, full_pipe, full_socket, full_terminal, pipe_with_room, page_faults]


def held(act, state):
    """Takes what an act must wait for; returns the function that releases it. None: the act needs nothing."""
    if act in (shared_lock, shared_lock_with_limit):
        state["lock"].acquire()
        return state["lock"].release
    if act in (polled_lock_file, lock_given_up):
        open(state["made"], "w").close()
        return lambda: os.unlink(state["made"])
    if act in (file_lock, record_lock, polled_lock, polled_record_lock):
        file = open(state["locked"], "r+")
        lock = fcntl.flock if act in (file_lock, polled_lock) else fcntl.lockf
        state["files"].append(file)  # kept open: closing one file drops all record locks of the process on it
        lock(file, fcntl.LOCK_EX)
        return lambda: lock(file, fcntl.LOCK_UN)  # closing does not unlock, since the worker has the file open too
    return None


def serve(listener):
    while True:
        client, _ = listener.accept()
        client.recv(1)
        time.sleep(WAIT_S)
        client.sendall(REPLY)
        client.close()


def listen(address, family):
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen()
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    return listener


def training(folder):
    from torch.utils.data import DataLoader, Dataset

    state = {"lock": multiprocessing.Lock(), "timeout": None, "files": [],
             "locked": os.path.join(folder, "lock"), "made": os.path.join(folder, "made"),
             "local": os.path.join(folder, "socket"), "mapped": os.path.join(folder, "mapped")}

    class Acts(Dataset):
        def __len__(self):
            return len(ACTS)

        def __getitem__(self, index):
            begin = time.monotonic_ns()
            ACTS[index](state)
            return time.monotonic_ns() - begin

    open(state["locked"], "w").close()
    with open(state["mapped"], "wb") as file:
        file.write(bytes(64 * mmap.PAGESIZE))
        os.fsync(file.fileno())
    state["synced"] = os.open(state["locked"], os.O_RDONLY)
    state["full"], state["roomy"], state["terminal"] = os.pipe(), os.pipe(), os.openpty()
    for name in "full", "roomy":
        print(name, "pipe:[{}]".format(os.fstat(state[name][0]).st_ino))
    print("terminal", os.ttyname(state["terminal"][1]))
    kept = listen(("127.0.0.1", 0), socket.AF_INET), listen(state["local"], socket.AF_UNIX)
    state["port"] = kept[0].getsockname()[1]
    print("port", state["port"])
    if SIX:
        kept += listen(("::1", 0), socket.AF_INET6),
        state["port6"] = kept[2].getsockname()[1]
        print("port6", state["port6"])
    for index, act in enumerate(ACTS):
        free = held(act, state)
        if free:
            timer = threading.Timer(SOON_S, free)
            timer.start()
        loader = DataLoader(Acts(), sampler=[index], num_workers=1,
                            multiprocessing_context="fork")
        for took in loader:
            print(act.__name__, int(took))
        if free:
            timer.join()


WANTED = {"sleep": ("asleep", ""), "select_nothing": ("asleep", ""), "shared_lock": ("lock", ""),
          "shared_lock_with_limit": ("lock", ""), "private_lock": ("thread", ""),
          "join": ("thread", ""), "condition": ("thread", ""), "server": ("socket", "PORT"),
          "server_with_limit": ("socket", "PORT"), "server_by_thread": ("thread", ""), "server_by_read": ("socket", "PORT"),
          "server_by_epoll": ("socket", "PORT"), "local_server": ("socket", "LOCAL"),
          "pipe": ("pipe", "pipe"), "program": ("program", ""), "shell": ("program", ""),
          "piped_shell": ("program", ""), "synced": ("sync", ""),
          "file_lock": ("lock", "LOCKED"), "record_lock": ("lock", "LOCKED"),
          "polled_lock": ("lock", "LOCKED"), "polled_record_lock": ("lock", "LOCKED"),
          "polled_lock_file": ("lock", "MADE"), "lock_given_up": ("asleep", ""),
          "full_pipe": ("write", "FULL"), "full_socket": ("socket", "unix socket"),
          "full_terminal": ("write", "TERMINAL"), "pipe_with_room": ("asleep", ""),
          "server_of_six": ("socket", "SIX")}


def main():
    need_shim()
    need_torch()
    folder = scratch()
    database = os.path.join(folder, "run.db")
    env = environment(DLPROF_OUT=database)
    env["LD_PRELOAD"] += ":" + sys.argv[1]
    done = run([PYTHON, os.path.abspath(__file__), sys.argv[1], folder], env=env)
    equal(done.status, 0, "the program", done.err)
    wait_for_drain(database)
    took = dict(line.split() for line in done.out.splitlines())
    names = {"PORT": "127.0.0.1:" + took["port"], "LOCAL": os.path.join(folder, "socket"),
             "LOCKED": os.path.join(folder, "lock"), "MADE": os.path.join(folder, "made"), "": "", "pipe": "pipe",
             "FULL": took["full"], "TERMINAL": took["terminal"], "unix socket": "unix socket",
             "SIX": "[::1]:" + took.get("port6", "")}
    least, most = {}, {}
    for act, (kind, name) in WANTED.items():
        if act not in took:
            continue
        key = kind, names[name]
        least[key] = least.get(key, 0) + 0.8 * WAIT_S * 1e9
        most[key] = most.get(key, 0) + int(took[act])
    # `pipe` also waits until its thread has started.
    most["thread", ""] += max(0, int(took["pipe"]) - least["pipe", "pipe"])
    found = {(row["kind"], row["name"]): (row["ns"], row["count"], row["bytes"])
             for row in rows(database, "SELECT * FROM blocked")}
    for key, ns in least.items():
        got = found.get(key, (0, 0, 0))
        check(ns <= got[0] <= most[key] * 1.02, "blocked for", key, got[0] / 1e6, "ms of",
              ns / 1e6, "to", most[key] / 1e6, "planted; in all", found)
    check(found.get(("write", took["roomy"]), (0, 0, 0))[1] <= int(took["lasted"]), "a write that found room was no wait",
          took["lasted"], found)
    server_key = "socket", names["PORT"]
    # Of the four acts with the server two read the whole reply, one 100 bytes of it, and one nothing.
    equal(found[server_key][2], 2 * len(REPLY) + 100, "bytes of the server")
    equal(found["pipe", "pipe"][2], 5, "bytes of the pipe")
    equal(found["thread", ""][2], len(REPLY), "bytes that other threads received for loads")
    faults = {name: count for (kind, name), (_, count, _) in found.items() if kind == "fault"}
    if int(took["faults"]):  # there are none if the folder is in memory
        path = os.path.join(folder, "mapped")
        check(set(faults) == {path} and faults[path] >= int(took["faults"]), "page faults", faults, took["faults"])
    else:
        equal(faults, {}, "page faults")
    sums, = rows(database, "SELECT SUM(blocked_ns) AS blocked, SUM(load_ns) AS load FROM load")
    told = sum(ns for (kind, _), (ns, _, _) in found.items() if kind != "fault")
    check(0.97 * sums["blocked"] <= told <= sums["blocked"] <= sums["load"],
          "the kinds add up to what was blocked", told, sums)
    finish()


if len(sys.argv) > 2:
    training(sys.argv[2])
else:
    main()
