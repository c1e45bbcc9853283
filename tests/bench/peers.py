# SPDX-License-Identifier: Apache-2.0
"""What dlprof and its peers cost on the same work, as a table.

usage: peers.py WORK FLOOR [LTTNG]

The tools take turns in a changing order, so that a machine that is busy is busy for all of them;
medians. CPU time is of the process and its children, which other processes disturb less than its
wall time; what a tool does in processes of its own is in the wall time alone. Nothing is installed: a tool that is not there is a row that says so. Slow tools get less of the work, and are
compared with the bare program on as much of it.
TEST_ROUNDS (5); TEST_WORK: pread, pread2, files, jpeg, start or training, comma-separated; TEST_DFTRACER:
DFTracer's libdftracer_preload.so, otherwise looked for where Python would find it.
"""
import glob
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, ROOT, SHIM, check, environment, equal, example_images,  # noqa
                         finish, need_shim, need_torch, say, scratch, wait_for_drain)

WORK, FLOOR = sys.argv[1:3]
LTTNG = sys.argv[3] if len(sys.argv) > 3 else None
ROUNDS = int(os.environ.get("TEST_ROUNDS", "5"))
PREADS, FILES, IMAGES = 1000000, 20000, 500
LONGEST_S = 120  # a tool that hangs fails
CALLS = {"pread": 1, "pread2": 1, "files": 4, "jpeg": 1, "start": 1, "training": 1}  # of one operation


class Tool:
    """`command` and `env` may hold {out}: a folder whose size afterwards is what was written."""

    def __init__(self, name, command=(), env=None, needs=None, share=1, works=tuple(CALLS)):
        self.name, self.command, self.env = name, list(command), env or {}
        self.needs, self.share, self.works = needs, share, works

    def missing(self):
        for need in self.needs if isinstance(self.needs, tuple) else (self.needs,):
            if need == "":
                return "not built"
            if need and not (os.path.exists(need) or shutil.which(need)):
                return "not installed"
        return None


def dftracer():
    find = "import sys; print('\\n'.join(sys.path))"
    folders = subprocess.run([PYTHON, "-c", find], stdout=subprocess.PIPE).stdout.decode().split()
    for folder in folders:
        for found in glob.glob(os.path.join(folder, "dftracer", "lib*", "libdftracer_preload.so")):
            return found
    return os.environ.get("TEST_DFTRACER", "libdftracer_preload.so")


def tools(data):
    dft = os.environ.get("TEST_DFTRACER") or dftracer()
    loop = ("pread", "pread2", "files", "jpeg", "start")
    record = {"LD_PRELOAD": SHIM, "DLPROF_OUT": "{out}/run.db", "DLPROF_QUIET": "1"}
    count = "tracepoint:syscalls:sys_enter_{}pread64,tracepoint:syscalls:sys_enter_read"
    return [
        Tool("bare"),
        Tool("two readings of the counter", env={"LD_PRELOAD": FLOOR}, works=("pread", "pread2")),
        Tool("**dlprof, not recording**", env={"LD_PRELOAD": SHIM}, works=loop),
        Tool("**dlprof, recording**", env=dict(record, DLPROF_ACTIVATE="always"), works=loop),
        Tool("**dlprof**", env=record, works=("training",)),
        Tool("uftrace", ["uftrace", "record", "--force", "--no-pager", "-d", "{out}/u"],
             needs="uftrace", works=loop),
        Tool("LTTng-UST, one tracepoint", env={"LD_PRELOAD": LTTNG or ""},
             needs=("lttng", LTTNG or ""), works=("pread", "pread2")),
        Tool("DFTracer", env={"LD_PRELOAD": dft, "DFTRACER_ENABLE": "1",
                              "DFTRACER_INIT": "PRELOAD", "DFTRACER_DATA_DIR": data,
                              "DFTRACER_LOG_FILE": "{out}/trace"}, needs=dft),
        # Not of a training: it hangs with workers that were forked.
        Tool("heaptrack", ["heaptrack", "-o", "{out}/heap"], needs="heaptrack", works=loop),
        Tool("bpftrace, counting", ["bpftrace", "-o", "{out}/counts", "-e",
                                    count.format("") + " { @ = count(); }", "-c"],
             needs="bpftrace", works=("pread", "pread2", "files", "start")),
        Tool("perf record of the system call", ["perf", "record", "-q", "-o", "{out}/perf.data",
                                                "-e", "syscalls:sys_enter_pread64", "--"],
             needs="perf", share=20, works=("pread", "pread2")),
        Tool("perf trace", ["perf", "trace", "-o", "{out}/trace"], needs="perf", share=20,
             works=loop),
        Tool("strace -f", ["strace", "-f", "-o", "{out}/trace"], needs="strace", share=20),
        Tool("ltrace -f", ["ltrace", "-f", "-o", "{out}/trace"], needs="ltrace", share=100,
             works=("pread", "pread2", "files", "start")),
    ]


def make_data(folder):
    with open(os.path.join(folder, "blocks.bin"), "wb") as file:
        for _ in range(4):
            file.write(os.urandom(1 << 20))
    for i in range(FILES):
        if i % 1000 == 0:
            os.makedirs(os.path.join(folder, "small", str(i // 1000)))
        with open(os.path.join(folder, "small", str(i // 1000), "{}.bin".format(i)), "wb") as file:
            file.write(b"x" * (2000 + i * 37 % 6000))
    images = example_images()
    for name, pattern, count in (("files", folder + "/small/*/*.bin", FILES),
                                 ("jpeg", images + "/*/*.jpg", IMAGES)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("".join(path + "\n" for path in sorted(glob.glob(pattern))[:count]))
    return images


def shortened(path, share):
    """The list with so much less in it."""
    short = "{}-{}".format(path, share)
    if not os.path.exists(short):
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        with open(short, "w", encoding="utf-8") as file:
            file.writelines(lines[:max(20, len(lines) // share)])
    return short


def argv_of(work, share, data, images):
    if work.startswith("pread"):
        return [WORK, "pread", os.path.join(data, "blocks.bin"), str(PREADS // share),
                "2" if work == "pread2" else "1"]
    if work == "start":
        return ["/bin/true"]
    if work == "training":
        return [PYTHON, os.path.join(ROOT, "examples", "train.py"), "--data", images,
                "--workers", "2", "--epochs", "1"]
    return [WORK, work, shortened(os.path.join(data, work), share)]


def size_of(folder):
    return sum(os.path.getsize(os.path.join(path, name))
               for path, _, names in os.walk(folder) for name in names)


class Result:
    def __init__(self, wall_ns, cpu_ns, loop, size):
        self.wall_ns, self.cpu_ns = wall_ns, cpu_ns
        self.operations, self.loop_ns, self.loop_cpu_ns = loop
        self.size = size


def lttng(*arguments):
    subprocess.run(["lttng"] + list(arguments), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)


def once(tool, argv):
    out = scratch()
    env = environment(False, **{k: v.replace("{out}", out) for k, v in tool.env.items()})
    command = [part.replace("{out}", out) for part in tool.command]
    argv = command + ([" ".join(argv)] if command[-1:] == ["-c"] else argv)
    if tool.name.startswith("LTTng"):
        lttng("create", "bench", "--output", os.path.join(out, "trace"))
        lttng("enable-event", "-u", "bench:pread")
        lttng("start")
    begin = time.monotonic_ns()
    process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    timer = threading.Timer(LONGEST_S, process.kill)
    timer.start()
    printed = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    wall = time.monotonic_ns() - begin
    process.returncode = status
    process.stdout.close()
    if tool.name.startswith("LTTng"):
        lttng("destroy", "bench")
    wait_for_drain(os.path.join(out, "run.db"))
    equal(status, 0, tool.name, "status", printed[-500:])
    found = re.search(r"^(\d+) (\d+) (\d+)$", printed, re.MULTILINE)
    size = size_of(out)
    shutil.rmtree(out, ignore_errors=True)
    cpu = (usage.ru_utime + usage.ru_stime) * 1e9
    return Result(wall, cpu, map(int, found.groups()) if found else (1, wall, cpu), size)


def median(results, field):
    return statistics.median(field(one) for one in results)


def table(work, data, images):
    rows = [tool for tool in tools(data) if work in tool.works]
    present = [tool for tool in rows if not tool.missing()]
    runs = [(tool, tool.share) for tool in present]
    runs += [(rows[0], share) for share in sorted({t.share for t in present} - {1})]
    found = {}
    rounds = {"training": max(2, ROUNDS // 2), "start": 4 * ROUNDS}.get(work, ROUNDS)
    for turn in range(rounds + 1):  # the first fills the page cache
        for tool, share in random.sample(runs, len(runs)):
            if turn or tool.share == 1:
                result = once(tool, argv_of(work, share, data, images))
                if turn:
                    found.setdefault((tool.name, share), []).append(result)
    each = CALLS[work]

    def per_call(results):
        return median(results, lambda one: one.loop_ns / one.operations / each)

    def cpu_per_call(results):
        return median(results, lambda one: one.loop_cpu_ns / one.operations / each)

    bare = found[("bare", 1)]
    say("\n{}: bare {:.0f} ns a call, {} calls, {:.2f} s; {} rounds".format(
        work, per_call(bare), bare[0].operations * each, median(bare, lambda o: o.wall_ns) / 1e9,
        rounds))
    say("| tool | process time ÷ bare | CPU time ÷ bare | added ns per call | of CPU | bytes per call |")
    say("| --- | --- | --- | --- | --- | --- |")
    for tool in rows[1:]:
        if tool.missing():
            say("| {} | {} | | | | |".format(tool.name, tool.missing()))
            continue
        results, alone = found[(tool.name, tool.share)], found[("bare", tool.share)]
        training = work == "training"
        say("| {} | {:.3g} | {:.3g} | {} | {} | {} |".format(
            tool.name + (" (1/{})".format(tool.share) if tool.share > 1 else ""),
            median(results, lambda o: o.wall_ns) / median(alone, lambda o: o.wall_ns),
            median(results, lambda o: o.cpu_ns) / median(alone, lambda o: o.cpu_ns),
            "" if training else "{:.0f}".format(per_call(results) - per_call(alone)),
            "" if training else "{:.0f}".format(cpu_per_call(results) - cpu_per_call(alone)),
            "{:.0f} in all".format(median(results, lambda o: o.size)) if training else
            "{:.2g}".format(median(results, lambda o: o.size / o.operations / each))))


def main():
    need_shim()
    data = scratch()
    works = os.environ.get("TEST_WORK", ",".join(CALLS)).split(",")
    if "training" in works:
        need_torch()
    images = make_data(data)
    for work in works:
        table(work, data, images)
    check(True, "measured")
    finish()


main()
