# SPDX-License-Identifier: Apache-2.0
"""In a program that adopts orphans the drain's guard ends with the program, and keeps no files or memory of it."""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, databases, drains, environment, equal, finish, need_shim,  # noqa
                         report, rows, sandboxed, say, scratch, wait_for_drain)

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reaper_host.py")
END_S = 5  # the guard looks once a second whether exec() replaced the program
OLD = ("pidfd=ENOSYS", "close_range=ENOSYS", "process_vm_readv=EPERM")
RESTART_S = 20  # a new drain is started when the old one has been gone for 5 s


def until(condition, timeout):
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def field(pid, name):
    """Returns a field of /proc/PID/status; None: the process is gone, or is a zombie without that field."""
    try:
        with open("/proc/{}/status".format(pid)) as file:
            found = [line.split(":", 1)[1].strip() for line in file if line.startswith(name + ":")]
            return found[0] if found else None
    except OSError:
        return None


def guards(folder):
    """Returns the pids of living guards whose environment names `folder`, as this test's guards' does."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and field(name, "Name") == "dlprof-guard":
            try:
                with open("/proc/{}/environ".format(name), "rb") as file:
                    if folder.encode() in file.read():
                        found.append(int(name))
            except OSError:
                pass
    return found


def files(pid):
    folder = "/proc/{}/fd".format(pid)
    return [os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)]


class Host:
    """A reaper_host.py that has reached its first `hold`, and has a guard."""

    def __init__(self, *actions, denied=()):
        self.folder = scratch()
        self.database = os.path.join(self.folder, "run.db")
        self.process = subprocess.Popen(
            sandboxed(denied, [PYTHON, HOST, "subreaper"] + list(actions)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.folder, start_new_session=True,
            env=environment(not denied, DLPROF_OUT=self.database, DLPROF_QUIET=1,
                            TMPDIR=self.folder))
        self.first = json.loads(self.process.stdout.readline())
        check(until(lambda: len(self.guards()) == 1, END_S), actions, "a guard", self.guards())

    def guards(self):
        return guards(self.folder)

    def gone(self, name):
        check(until(lambda: not self.guards(), END_S), name, "the guard is left", self.guards())
        wait_for_drain(self.database)

    def batches(self):
        return rows(self.database, "SELECT COUNT(*) AS n FROM batch")[0]["n"]

    def end(self, name):
        out, _ = self.process.communicate(b"\n", timeout=60)
        equal(self.process.returncode, 0, name, "exit status")
        self.gone(name)
        return [json.loads(line) for line in out.decode().splitlines()]


def check_holds_nothing(denied):
    host = Host("main", "hold", denied=denied)
    guard = host.guards()[0]
    check(until(lambda: os.readlink("/proc/{}/cwd".format(guard)) == "/", END_S), "its folder")
    check(until(lambda: all("pidfd" in link for link in files(guard)), END_S), files(guard))
    equal(os.readlink("/proc/{}/cwd".format(host.process.pid)), host.folder, "the host's folder")
    check(os.getpgid(guard) != os.getpgid(host.process.pid), "is in the host's process group")
    equal(os.getsid(guard), os.getsid(host.process.pid), "session")
    equal(int(field(guard, "SigBlk"), 16) | 0x40100, 0xffffffffffffffff, "blocks all signals")
    equal([field(pid, "PPid") for pid in drains(host.database)], [str(guard)], "the drain's parent")
    host.end("holds nothing")
    equal(host.batches(), 5, "batches")


def check_killed(name, kill, denied=()):
    host = Host("thread", "hold", denied=denied)
    kill(host.process.pid)
    equal(host.process.wait(), -signal.SIGKILL, name, "status")
    host.process.stdout.close()
    host.gone(name)
    check(report(host.database).status in (0, 3), name, "report")
    equal(host.batches(), 5, name, "batches")


def check_exec():
    """After exec() the new program, still a subreaper, gets no end of the old drain from wait(). It continues
    the run, with a new drain."""
    host = Host("main", "hold", "exec", "waits", "hold", "main", "hold", "waits")
    host.process.stdin.write(b"\n")
    host.process.stdin.flush()
    told = [json.loads(host.process.stdout.readline()) for _ in range(3)][1]["told"]
    check(all(len(ends) == 3 for ends in told.values()), "exec: a wait told of", told)
    check(until(lambda: not host.guards(), END_S), "exec: the old memory is held")
    check(until(lambda: not drains(host.database), END_S), "exec: the drain is left")
    host.process.stdin.write(b"\n")
    host.process.stdin.flush()
    equal(json.loads(host.process.stdout.readline())["children"], ["dlprof-guard", "dlprof-guard"],
          "exec: children, the first of them a zombie")
    told = host.end("exec")[-1]["told"]
    check(all(len(ends) == 3 for ends in told.values()), "exec: later, a wait told of", told)
    wait_for_drain(host.database)
    equal(databases(host.folder), [host.database], "exec: databases")
    check(report(host.database).status in (0, 3), "exec: report")
    equal(host.batches(), 2 * (5 + 5 * 3 * 5), "exec: batches, with those of the children")
    equal([row["exit"] for row in rows(host.database, "SELECT exit FROM process WHERE pid = {} ORDER "
                                       "BY start_ns".format(host.process.pid))], ["exec", "clean"],
          "exec: lives")


def check_exec_at_once():
    """exec() while the old drain still runs: both programs' batches are in one database."""
    host = Host("main", "exec", "main", "exec", "main", "hold")
    host.end("exec at once")
    equal(databases(host.folder), [host.database], "exec at once: databases")
    equal(host.batches(), 15, "exec at once: batches")


def check_drain_killed():
    host = Host("main", "batches", "waits")
    check(until(lambda: os.path.getsize(host.database), END_S), "the drain has begun")
    time.sleep(1)
    old, guard = drains(host.database), host.guards()
    os.kill(old[0], signal.SIGKILL)
    check(until(lambda: drains(host.database) not in (old, []), RESTART_S), "no other drain")
    check(until(lambda: len(host.guards()) == 1 and host.guards() != guard, END_S),
          "guards", guard, host.guards())
    told = host.end("drain killed")
    equal(told[1]["children"], ["dlprof-guard"], "drain killed: children")
    check(all(len(ends) == 3 for ends in told[2]["told"].values()), "a wait told of", told[2])
    equal(host.batches(), told[0]["marked"] + 5 * 3 * 5, "drain killed: batches")


def main():
    need_shim()
    check_holds_nothing(())
    check_killed("SIGKILL", lambda pid: os.kill(pid, signal.SIGKILL))
    if subprocess.run(sandboxed(OLD, ["true"], preload=False)).returncode == 0:
        check_holds_nothing(OLD)
        check_killed("SIGKILL, old kernel", lambda pid: os.kill(pid, signal.SIGKILL), OLD)
    else:
        say("no seccomp filter can be set: an older kernel is not tried")
    check_killed("SIGKILL to the group", lambda pid: os.killpg(os.getpgid(pid), signal.SIGKILL))
    check_exec()
    check_exec_at_once()
    check_drain_killed()
    finish()


main()
