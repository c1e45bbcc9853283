# SPDX-License-Identifier: Apache-2.0
"""Servers of a test: they end when it does, however that ends."""
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def end_with_parent():
    """Of the process that calls it: who starts servers and is killed leaves none."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def start(command, **keywords):
    return subprocess.Popen(command, preexec_fn=end_with_parent, **keywords)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def is_there(pid):
    try:
        with open("/proc/{}/stat".format(pid)) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def survivors(command):
    """Starts it from a test that is killed; its process, if it is there ten seconds later."""
    code = "import servers, sys, time; print(servers.start(sys.argv[1:]).pid, flush=True); time.sleep(60)"
    test = subprocess.Popen([sys.executable, "-c", code] + command, stdout=subprocess.PIPE,
                            cwd=os.path.dirname(os.path.abspath(__file__)))
    pid = int(test.stdout.readline())
    test.kill()
    test.wait()
    end = time.monotonic() + 10
    while is_there(pid) and time.monotonic() < end:
        time.sleep(0.1)
    left = [pid] if is_there(pid) else []
    for one in left:
        os.kill(one, signal.SIGKILL)
    return left
