# SPDX-License-Identifier: Apache-2.0
"""CPU seconds that the preload adds to a training: two of them in turns of 30 ms on one core.

usage: turns.py WORK WORKERS EPOCHS IMAGES (of training_host.py)
TEST_PAIRS (7); TEST_CONTROL=1: neither has the preload.

What else a machine does changes by the second, and by more than is looked for: two trainings after
each other tell of that. Of two that are frozen and thawed in turn, each in a control group, both
have the same of it. Each is asked what it used when it is over, its workers too. The drain is none
of its children; it is moved out of the group and off the core, and what it used is told apart.
Needs root, for the control groups.
"""
import contextlib
import math
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402

TURN_S = 0.03
TICKS = os.sysconf("SC_CLK_TCK")
HERE = os.path.dirname(os.path.abspath(__file__))


class Group:
    """A control group that freezes what is in it; of version 1, or of version 2."""

    def __init__(self, name):
        old = "/sys/fs/cgroup/freezer"
        self.root, self.switch, self.words, self.answer = (
            (old, "freezer.state", ("THAWED", "FROZEN"), "freezer.state")
            if os.path.isdir(old) else
            ("/sys/fs/cgroup", "cgroup.freeze", ("0", "1"), "cgroup.events"))
        self.path = os.path.join(self.root, "dlprof-bench-{}-{}".format(os.getpid(), name))
        try:
            os.mkdir(self.path)
        except OSError as error:
            t.skip("no control group can be made: {}".format(error))

    def write(self, name, word, root=False):
        with open(os.path.join(self.root if root else self.path, name), "w") as file:
            file.write(word)

    def enter(self):
        self.write("cgroup.procs", str(os.getpid()))

    def expel(self, pid):
        with contextlib.suppress(OSError):
            self.write("cgroup.procs", str(pid), root=True)

    def freeze(self, frozen):
        self.write(self.switch, self.words[frozen])
        while frozen and not self.is_frozen():
            time.sleep(0.0002)

    def is_frozen(self):
        with open(os.path.join(self.path, self.answer)) as file:
            text = file.read()
        return text.startswith("FROZEN") or "frozen 1" in text

    def remove(self):
        with contextlib.suppress(OSError):
            os.rmdir(self.path)


class Training:
    def __init__(self, name, command, database, core):
        self.group, self.database, self.core = Group(name), database, core
        self.drains, self.drain_s, self.usage = [], 0.0, None

        def begin():
            self.group.enter()
            os.sched_setaffinity(0, {core})

        env = t.environment(bool(database), DLPROF_OUT=database, DLPROF_QUIET="1",
                            PYTHONWARNINGS="ignore")  # of more workers than cores
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL,
                                        preexec_fn=begin)

    def is_over(self):
        if not self.usage:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode, self.usage = status, usage
                t.equal(status, 0, "status")
        return self.usage is not None

    def look_for_drain(self):
        if self.database and not self.drains:
            self.drains = t.drains(self.database)
            for pid in self.drains:
                self.group.expel(pid)
                os.sched_setaffinity(pid, set(range(os.cpu_count())) - {self.core} or {self.core})

    def watch_drain(self):
        for pid in self.drains:
            with contextlib.suppress(OSError, IndexError):
                with open("/proc/{}/stat".format(pid)) as file:
                    fields = file.read().rpartition(")")[2].split()
                self.drain_s = max(self.drain_s, (int(fields[11]) + int(fields[12])) / TICKS)

    def end(self):
        while self.drains and os.path.exists("/proc/{}".format(self.drains[0])):
            self.watch_drain()
            time.sleep(0.002)
        if self.database:
            t.wait_for_drain(self.database)
            t.check(os.path.getsize(self.database) > 0, "no database")
        self.group.remove()
        return self.usage.ru_utime + self.usage.ru_stime


def pair(command, with_preload, first, core):
    """CPU seconds of (bare, with the preload), and of the drain."""
    folder = t.scratch()
    both = [Training("bare", command, None, core),
            Training("ours", command, os.path.join(folder, "run.db") if with_preload else None,
                     core)]
    both[1 - first].group.freeze(True)
    turn = first
    while not all([one.is_over() for one in both]):
        time.sleep(TURN_S)
        for one in both:
            one.look_for_drain()
            one.watch_drain()
        if not both[1 - turn].is_over():
            both[turn].group.freeze(True)
            turn = 1 - turn
            both[turn].group.freeze(False)
        elif both[turn].is_over():
            break
    return [one.end() for one in both], both[1].drain_s


def mean(name, values, unit):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    t.say("{}: {:+.2f} +- {:.2f} {}".format(name, statistics.mean(values), error, unit))


def main():
    t.need_torch()
    t.need_shim()
    work, _, epochs, images = sys.argv[1:]
    batches = int(epochs) * (int(images) if work == "nothing" else -(-int(images) // 32))
    command = [t.PYTHON, os.path.join(HERE, "training_host.py")] + sys.argv[1:] + [
        t.example_images()]
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[0]})
    # The files into the page cache.
    subprocess.run(command, env=t.environment(False, PYTHONWARNINGS="ignore"), check=True)
    shares, each, drained = [], [], []
    for i in range(int(os.environ.get("TEST_PAIRS", "7"))):
        (bare, ours), drain = pair(command, not os.environ.get("TEST_CONTROL"), i % 2, cores[-1])
        shares.append(100 * (ours / bare - 1))
        each.append(1e6 * (ours - bare) / batches)
        drained.append(1e6 * drain / batches)
        t.say("pair {}: {:.2f} s, {:.2f} s more, drain {:.2f} s".format(
            i + 1, bare, ours - bare, drain))
    mean("more CPU time", shares, "%")
    mean("of each of {} batches".format(batches), each, "us")
    mean("its drain", drained, "us")
    t.finish()


main()
