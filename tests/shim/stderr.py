# SPDX-License-Identifier: Apache-2.0
"""dlprof prints its line at exit to the stderr that the program began with, or not at all: never to a
file that the program has opened in its place."""
import os
import pty
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, SHIM, check, databases, environment, equal, finish,  # noqa
                         need_shim, scratch, wait_for_drain)

DATA = b"measured for a week\n"
LINE = b"dlprof: 0 batches"


def shell(folder, program, redirect="", **changes):
    """Runs the Python text `program` in a shell that redirects by `redirect`; returns stdout and stderr, mixed."""
    with open(os.path.join(folder, "program.py"), "w") as file:
        file.write("import os, sys\n" + program)
    changes.setdefault("DLPROF_ACTIVATE", "always")
    env = environment(DLPROF_OUT=os.path.join(folder, "run.db"), **changes)
    env["SHIM"] = env.pop("LD_PRELOAD")
    done = subprocess.run(["sh", "-c", 'LD_PRELOAD=$SHIM exec "$0" -S program.py ' + redirect,
                           PYTHON], env=env, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60)
    equal(done.returncode, 0, program, redirect, "status", done.stdout)
    for database in databases(folder):
        wait_for_drain(database)
    return done.stdout


def data(folder):
    with open(os.path.join(folder, "precious.bin"), "rb") as file:
        return file.read()


OPEN = """
fd = os.open("precious.bin", os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
os.write(fd, {!r})
""".format(DATA)

# Programs that replace their descriptor 2, and what a shell made it before.
REPLACED = (
    ("closed, a file opened", "os.close(2)" + OPEN + "assert fd == 2", ""),
    ("closed by the shell", OPEN + "assert fd == 2", "2>&-"),
    ("a file by dup2", OPEN + "os.dup2(fd, 2)", ""),
    ("a file by dup2, of a file", OPEN + "os.dup2(fd, 2)", "2>log"),
    ("the log deleted, its inode given to the file",
     "os.unlink('log'); os.close(2)" + OPEN + "assert fd == 2", "2>log"),
    ("in a child", """
if os.fork() == 0:
    os.close(2)""" + OPEN.replace("\n", "\n    ") + """
    sys.exit(0)
os.wait()
""", ""),
    ("after exec", "os.close(2)" + OPEN + "os.set_inheritable(fd, False)\n"
     "os.execv(sys.executable, [sys.executable, '-S', '-c', 'pass'])", ""),
)


def check_replaced():
    for name, program, redirect in REPLACED:
        for log in (None, "stderr"):
            folder = scratch()
            shell(folder, program, redirect, DLPROF_LOG=log)
            equal(data(folder), DATA, name, "DLPROF_LOG", log)


def check_daemon():
    folder = scratch()
    said = shell(folder, "fd = os.open('/dev/null', os.O_WRONLY); os.dup2(fd, 2)", "2>log")
    with open(os.path.join(folder, "log"), "rb") as log:
        equal((said, log.read()), (b"", b""), "a daemon's stderr")


def check_kept():
    """The line appears also where the program opens the file again that is its stderr."""
    folder = scratch()
    check(LINE in shell(folder, "pass"), "a pipe: nothing is said")
    check(LINE in shell(folder, "pass", "2>&1 | tee log"), "tee: nothing is said")
    for name, program in (("a log", "pass"), ("a log, opened again", """
os.close(2)
assert os.open("log", os.O_WRONLY | os.O_APPEND) == 2"""), ("a log, opened beside", """
os.dup2(os.open("log", os.O_WRONLY | os.O_APPEND), 2)""")):
        folder = scratch()
        shell(folder, program, "2>log")
        with open(os.path.join(folder, "log"), "rb") as log:
            found = log.read()
        check(found.startswith(LINE) and found.count(b"\n") == 1, name, "holds", found)


def check_terminal():
    master, slave = pty.openpty()
    folder = scratch()
    done = subprocess.run([PYTHON, "-S", "-c", "pass"], stderr=slave, timeout=60, env=environment(
        DLPROF_OUT=os.path.join(folder, "run.db"), DLPROF_ACTIVATE="always"))
    equal(done.returncode, 0, "a terminal: status")
    check(os.read(master, 4096).startswith(LINE), "a terminal: nothing is said")
    wait_for_drain(os.path.join(folder, "run.db"))
    os.close(slave)
    os.close(master)


def main():
    need_shim()
    check_replaced()
    check_daemon()
    check_kept()
    check_terminal()
    finish()


main()
