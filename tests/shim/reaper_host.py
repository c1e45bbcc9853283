# SPDX-License-Identifier: Apache-2.0
"""A program that prints what each kind of wait() returns to it, as JSON; `subreaper`: it adopts orphans.

usage: reaper_host.py subreaper|plain ACTION...: `main` marks batches in the main thread, `thread` in another
thread, which ends; `workers` forks children that record; `waits` waits for children in every way; `hold` waits
for a line on stdin; `batches` marks batches until such a line; `exec` starts this program anew by exec().
"""
import ctypes
import itertools
import json
import os
import subprocess
import sys
import threading
import time

PR_SET_CHILD_SUBREAPER = 36
SELF = ctypes.CDLL(None)
NUMBER = itertools.count()


def mark():
    if hasattr(SELF, "dlprof_batch_begin"):
        for _ in range(5):
            SELF.dlprof_batch_begin()
            SELF.dlprof_batch_end(ctypes.c_int64(next(NUMBER)))


def has_ended(pid):
    try:
        with open("/proc/{}/stat".format(pid)) as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def child(status, before=None):
    """Forks a child that marks batches and ends after the child `before`; returns its pid."""
    pid = os.fork()
    if not pid:
        time.sleep(0.05)
        while before and not has_ended(before):
            time.sleep(0.01)
        mark()
        os._exit(status)
    return pid


def wait_hanging():
    """Waits by WNOHANG in a loop, as an event loop does."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            return pid, status
        time.sleep(0.01)


def wait_id():
    done = os.waitid(os.P_ALL, 0, os.WEXITED)
    return done.si_pid, done.si_status << 8


def every_wait():
    """{kind of wait: what it returned of three children, in the order in which they end, until none is left}"""
    ways = {"wait": os.wait, "waitpid": lambda: os.waitpid(-1, 0), "WNOHANG": wait_hanging,
            "stopped, too": lambda: os.waitpid(-1, os.WUNTRACED | os.WCONTINUED), "waitid": wait_id}
    told = {}
    for name, way in ways.items():
        pids = []
        for status in (1, 2, 3):
            pids.append(child(status, pids[-1] if pids else None))
        subprocess.run(["true"], check=True)
        told[name] = []
        try:
            while True:
                pid, status = way()
                told[name].append([pids.index(pid) if pid in pids else "unknown", status >> 8])
        except ChildProcessError:
            pass
    return told


def children():
    """Returns the names of all children by /proc, also those that wait() does not return."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/{}/stat".format(int(name))) as file:
                text = file.read()
        except (ValueError, OSError):
            continue
        if text.rsplit(")", 1)[1].split()[1] == str(os.getpid()):
            found.append(text[text.index("(") + 1:text.rindex(")")])
    return found


def say(**words):
    print(json.dumps(words), flush=True)


def main():
    kind, actions = sys.argv[1], sys.argv[2:]
    if kind == "subreaper":
        SELF.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for action in actions:
        if action == "main":
            mark()
        elif action == "thread":
            thread = threading.Thread(target=mark)
            thread.start()
            thread.join()
        elif action == "workers":
            say(workers=[os.waitpid(child(status), 0)[1] for status in (1, 2)])
        elif action == "waits":
            say(pid=os.getpid(), children=children())
            began = time.monotonic()
            told = every_wait()
            say(told=told, s=time.monotonic() - began)
        elif action == "hold":
            say(pid=os.getpid(), children=children())
            sys.stdin.readline()
        elif action == "batches":
            say(pid=os.getpid(), children=children())
            end = threading.Thread(target=sys.stdin.readline)
            end.start()
            while end.is_alive():
                mark()
                time.sleep(0.05)
            say(marked=next(NUMBER))
        elif action == "exec":
            rest = actions[actions.index("exec") + 1:]
            os.execv(sys.executable, [sys.executable, __file__, "plain"] + rest)


main()
