# SPDX-License-Identifier: Apache-2.0
"""`top` ends by q and Ctrl-C, and leaves the terminal as it was, whatever ends it."""
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

ENTER, LEAVE = b"\033[?1049h\033[?25l", b"\033[?25h\033[?1049l"
DEADLINE_S = 30


class Top:
    """A `top` in a new session on a new terminal."""

    def __init__(self, run):
        self.text = b""
        self.pid, self.terminal = pty.fork()
        if not self.pid:
            for name in ("LD_PRELOAD", "DLPROF_OUT"):
                os.environ.pop(name, None)
            os.environ["TERM"] = "xterm"
            os.execv(t.REPORT, [t.REPORT, "top", "--interval", "0.1", run])
        self.before = termios.tcgetattr(self.terminal)

    def read_until(self, text, count=1):
        end = time.monotonic() + DEADLINE_S
        while self.text.count(text) < count and time.monotonic() < end:
            if not select.select([self.terminal], [], [], 0.05)[0]:
                continue
            try:
                self.text += os.read(self.terminal, 65536)
            except OSError:
                break
        t.check(self.text.count(text) >= count, "never seen:", text, self.text[-500:])

    def keys(self):
        """Returns the terminal's local modes that top changes."""
        return termios.tcgetattr(self.terminal)[3] & (termios.ICANON | termios.ECHO)

    def end(self):
        """Reads all that top writes until its end; returns its status."""
        end = time.monotonic() + DEADLINE_S
        after = None
        while time.monotonic() < end:
            after = termios.tcgetattr(self.terminal)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.02)
        else:
            os.kill(self.pid, signal.SIGKILL)
            return "hung"
        try:
            while select.select([self.terminal], [], [], 0.1)[0]:
                self.text += os.read(self.terminal, 65536)
        except OSError:
            pass
        t.equal(after, self.before, "the terminal's modes")
        os.close(self.terminal)
        return status


def record(folder):
    """Starts a run that makes batches for some seconds; returns its database when that has some."""
    run = os.path.join(folder, "{}.db".format(len(os.listdir(folder))))
    demo = subprocess.Popen([t.DLPROF, "demo", "slow_worker", "-q", "--json", "-o", run],
                            env=t.environment(preload=False), stdout=subprocess.DEVNULL)
    end = time.monotonic() + DEADLINE_S
    while (not os.path.exists(run) or t.report("top", run).status) \
            and time.monotonic() < end:
        time.sleep(0.02)
    return run, demo


def begin(run):
    top = Top(run)
    top.read_until(b"still recording", 2)
    t.check(top.text.startswith(ENTER), "the other screen", top.text[:40])
    t.equal(top.keys(), 0, "keys come one by one")
    return top


def check_end(run, what, act, expected):
    top = begin(run)
    os.write(top.terminal, b"x")  # a key without meaning
    act(top)
    t.equal(top.end(), expected, what)
    t.check(top.text.endswith(LEAVE) and top.text.count(ENTER) == 1, what, top.text[-200:])


def check_stop(run):
    """Ctrl-Z restores the terminal, and fg sets it up again."""
    top = begin(run)
    os.write(top.terminal, b"\x1a")
    pid, status = os.waitpid(top.pid, os.WUNTRACED)
    if not t.check(pid and os.WIFSTOPPED(status), "stopped", status):
        return
    top.read_until(LEAVE)
    t.equal(termios.tcgetattr(top.terminal), top.before, "while it is stopped")
    os.kill(top.pid, signal.SIGCONT)
    top.read_until(ENTER, 2)
    os.write(top.terminal, b"q")
    t.equal(top.end(), 0, "after that")


def check_over(run):
    """When the run is over its last picture stays on the terminal."""
    top = Top(run)
    t.equal(top.end(), 0, "of a run that is over")
    left = top.text.split(LEAVE)[-1]
    t.check(b"INPUT-BOUND" in left and b"still recording" not in left, left)


def main():
    t.need_shim()
    folder = t.scratch()
    demos = []
    for check in ((check_end, "q", lambda top: os.write(top.terminal, b"q"), 0),
                  (check_end, "Ctrl-C", lambda top: os.write(top.terminal, b"\x03"), 0),
                  (check_end, "SIGTERM", lambda top: os.kill(top.pid, signal.SIGTERM),
                   signal.SIGTERM),
                  (check_stop,)):
        run, demo = record(folder)
        check[0](run, *check[1:])
        demos.append(demo)
    for demo in demos:
        t.equal(demo.wait(), 0, "the demo")
    t.wait_for_drain(run)
    check_over(run)
    t.finish()


main()
