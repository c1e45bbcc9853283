# SPDX-License-Identifier: Apache-2.0
"""DLPROF_LOG never makes a program wait or get a signal, whatever kind of file it names.

usage: log.py PROGRAM (log_host)
"""
import fcntl
import os
import pty
import resource
import shutil
import socket
import stat
import subprocess
import sys
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (SHIM, check, environment, equal, finish, need_shim, rows, run, say,  # noqa
                         scratch, wait_for_drain)

HOST = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
TIMEOUT_S = 20


class Host:
    """Runs log_host with DLPROF_LOG=`log`, and checks that it ends as without a log."""

    def __init__(self, name, log, *arguments, stderr=None, before=None, more=None,
                 program=None):
        self.name, self.database = name, os.path.join(scratch(), "run.db")
        changes = {"DLPROF_LOG": log, "DLPROF_OUT": self.database, "DLPROF_QUIET": "1",
                   "DLPROF_SEGMENT_DIR": os.path.dirname(self.database)}
        changes.update(more or {})
        keywords = {} if stderr is None else {"stderr": stderr}
        begin = time.monotonic()
        done = spawn([program or HOST] + list(arguments), environment(**changes), before,
                     **keywords)
        equal(done.out, "ok\n", name, "says")
        equal(done.status, 0, name, "status")
        say("{} {:.2f} s".format(name, time.monotonic() - begin))

    def notes(self):
        wait_for_drain(self.database)
        return [row["text"] for row in rows(self.database, "SELECT text FROM note")
                if "DLPROF_LOG" in row["text"]]


def spawn(argv, env, before, stderr=None):
    process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=stderr or subprocess.DEVNULL, preexec_fn=before)
    killer = threading.Timer(TIMEOUT_S, process.kill)
    killer.start()
    out = process.stdout.read().decode()
    process.wait()
    killer.cancel()
    process.out, process.status = out, process.returncode
    return process


def content(path):
    with open(path) as file:
        return file.read()


def check_file():
    log = os.path.join(scratch(), "log")
    host = Host("a file:", log)
    check("recording into: " + host.database in content(log), "a file: holds", content(log))
    equal(stat.S_IMODE(os.stat(log).st_mode), 0o600, "a file: mode")
    equal(host.notes(), [], "a file: notes")
    # dlprof's lines are added to those that the file has.
    length = len(content(log))
    Host("the file again:", log)
    check(len(content(log)) > length, "the file again: was written over")


def check_refused():
    """Files that cannot be a log stay as they are, and a note in the database says why."""
    folder = scratch()
    names = {kind: os.path.join(folder, kind) for kind in ("fifo", "link", "socket", "target")}
    os.mkfifo(names["fifo"])
    os.symlink(names["target"], names["link"])
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(names["socket"])
    for name, log, why in (("a FIFO without a reader:", names["fifo"], "a FIFO"),
                           ("a symbolic link:", names["link"], "a symbolic link"),
                           ("a socket:", names["socket"], "a socket"),
                           ("a folder:", folder, "a folder"),
                           ("a device:", "/dev/null", "a device"),
                           ("no such folder:", "/proc/nonexistent/log", "no such file")):
        notes = Host(name, log).notes()
        check(len(notes) == 1 and log in notes[0] and why in notes[0], name, "notes", notes)
    check(not os.path.exists(names["target"]), "the target of a link was made")
    # dlprof must not even open a FIFO that has a reader: the reader would take the close for the end.
    reader = os.open(names["fifo"], os.O_RDONLY | os.O_NONBLOCK)
    Host("a FIFO with a reader:", names["fifo"])
    equal(os.read(reader, 100), b"", "a FIFO with a reader: got")
    os.close(reader)
    listener.close()


def check_size_limit():
    """A log that has reached the size of `ulimit -f` raises no SIGXFSZ, as a write to it would."""
    log, segments = os.path.join(scratch(), "log"), 8 << 20
    with open(log, "wb") as file:
        file.truncate(segments)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (segments, segments))

    Host("ulimit -f:", log, before=limit)
    Host("ulimit -f, and signals of its own:", log, "pending", before=limit)
    equal(os.path.getsize(log), segments, "ulimit -f: size")


def fill(writer):
    flags = fcntl.fcntl(writer, fcntl.F_GETFL)
    fcntl.fcntl(writer, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    for size in (4096, 1):
        try:
            while True:
                os.write(writer, b"x" * size)
        except BlockingIOError:
            pass
    fcntl.fcntl(writer, fcntl.F_SETFL, flags)


def check_pipes():
    for log in ("stderr", "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"):
        reader, writer = os.pipe()
        Host(log + ":", log, stderr=writer)
        os.close(writer)
        check(b"recording into" in os.read(reader, 4096), log, "says nothing")
        os.close(reader)
    for log in ("stderr", "/dev/stderr"):
        for arguments in ((), ("pending",)):
            reader, writer = os.pipe()
            os.close(reader)
            Host(" ".join((log, "whose reader is gone") + arguments), log, *arguments,
                 stderr=writer)
            os.close(writer)
        reader, writer = os.pipe()
        fill(writer)
        Host(log + ", a full pipe:", log, stderr=writer)
        os.close(writer)
        os.close(reader)


def check_crowd():
    """64 processes log at once into one pipe that has room for few of their lines."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 8192)
    os.write(writer, b"y" * 4095 + b"\n")
    crowd = [threading.Thread(target=Host, args=("one of a crowd:", "stderr"),
                              kwargs={"stderr": writer}) for _ in range(64)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    got = os.read(reader, 65536)[4096:]
    check(got and all(line.startswith(b"dlprof[") for line in got.splitlines()),
          "a crowd: lines are whole", got)
    os.close(writer)
    os.close(reader)


def check_socket():
    ours, theirs = socket.socketpair()
    Host("a socket as stderr:", "stderr", stderr=theirs.fileno())
    check(b"recording into" in ours.recv(4096), "a socket as stderr: says nothing")
    theirs.setblocking(False)
    try:
        while True:
            theirs.send(b"x" * 4096)
    except BlockingIOError:
        pass
    theirs.setblocking(True)
    Host("a full socket:", "stderr", stderr=theirs.fileno())
    ours.close()
    Host("a socket whose reader is gone:", "stderr", stderr=theirs.fileno())
    theirs.close()


def check_terminal():
    master, slave = pty.openpty()
    Host("a terminal:", os.ttyname(slave))
    check(b"recording into" in os.read(master, 4096), "a terminal: says nothing")
    Host("a terminal as stderr:", "stderr", stderr=slave)
    check(b"recording into" in os.read(master, 4096), "a terminal as stderr: says nothing")
    termios.tcflow(slave, termios.TCOOFF)  # as Ctrl-S does
    Host("a stopped terminal:", os.ttyname(slave))
    Host("a stopped terminal as stderr:", "stderr", stderr=slave)
    termios.tcflow(slave, termios.TCOON)
    # The terminal has room for less than a line, for which poll() says that it can be written.
    flags = fcntl.fcntl(slave, fcntl.F_GETFL)
    fcntl.fcntl(slave, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(slave, b"x")
    except BlockingIOError:
        pass
    fcntl.fcntl(slave, fcntl.F_SETFL, flags)
    os.read(master, 300)
    Host("a terminal that is nearly full:", os.ttyname(slave))
    Host("a terminal as stderr that is nearly full:", "stderr", stderr=slave)
    os.close(slave)
    os.close(master)


BACKGROUND = """
import fcntl, os, pty, subprocess, sys, termios, time
pid, master = pty.fork()
if pid == 0:
    settings = termios.tcgetattr(0)
    settings[3] |= termios.TOSTOP
    termios.tcsetattr(0, termios.TCSANOW, settings)
    child = subprocess.Popen(sys.argv[1:], stdout=open(os.environ["SAYS"], "w"),
                             preexec_fn=os.setpgrp)
    for _ in range(1000):
        pid, status = os.waitpid(child.pid, os.WNOHANG | os.WUNTRACED)
        if pid:
            break
        time.sleep(0.01)
    if os.WIFSTOPPED(status):
        os.kill(child.pid, 9)
    os._exit(0 if pid and os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 else 1)
while True:
    try:
        if not os.read(master, 4096):
            break
    except OSError:
        break
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def check_background():
    """No log stops a process in the background of a terminal with `stty tostop`, as a write to it would."""
    for log in ("stderr", "/dev/tty"):
        says, database = os.path.join(scratch(), "says"), os.path.join(scratch(), "run.db")
        done = run([sys.executable, "-c", BACKGROUND, "/usr/bin/env",
                    "LD_PRELOAD=" + environment()["LD_PRELOAD"], HOST],
                   env=environment(False, SAYS=says, DLPROF_LOG=log, DLPROF_OUT=database,
                                   DLPROF_QUIET="1"))
        equal((done.status, content(says)), (0, "ok\n"), "stty tostop,", log, done.err)
        wait_for_drain(database)


def check_foreign():
    """dlprof writes to another user's pipe by descriptor 2, since it cannot open that pipe once more."""
    if os.getuid() != 0:
        say("not root: another user's pipe is not tried")
        return
    folder = scratch()
    os.chmod(folder, 0o777)
    shim, program = (shutil.copy(path, folder) for path in (SHIM, HOST))
    for path in (shim, program):
        os.chmod(path, 0o755)

    def drop():
        os.setgid(65534)
        os.setuid(65534)

    more = {"LD_PRELOAD": shim, "DLPROF_OUT": os.path.join(folder, "run.db"),
            "DLPROF_SEGMENT_DIR": folder}
    reader, writer = os.pipe()
    Host("another user's pipe:", "stderr", stderr=writer, before=drop, more=more, program=program)
    check(b"recording into" in os.read(reader, 4096), "another user's pipe: says nothing")
    fill(writer)
    Host("another user's full pipe:", "stderr", stderr=writer, before=drop, more=more,
         program=program)
    os.close(reader)
    Host("another user's pipe without a reader:", "stderr", stderr=writer, before=drop, more=more,
         program=program)
    os.close(writer)


def check_full_disk():
    """With /dev/full as stderr, a device that is no terminal, the program ends as without a log."""
    with open("/dev/full", "w") as full:
        Host("stderr is a full device:", "stderr", stderr=full.fileno())


def main():
    need_shim()
    check_file()
    check_refused()
    check_size_limit()
    check_pipes()
    check_crowd()
    check_socket()
    check_terminal()
    check_background()
    check_foreign()
    check_full_disk()
    finish()


main()
