# SPDX-License-Identifier: Apache-2.0
"""`dlprof run` prints the report when the command has ended, and behaves otherwise as the command alone."""
import glob
import os
import pty
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

TRAINING = """
import ctypes, os, signal, sys, time
shim = ctypes.CDLL(None)
count, end = int(sys.argv[1]), sys.argv[2]
print("to stdout", flush=True)
for i in range(count):
    shim.dlprof_batch_begin()
    time.sleep(0.002)
    shim.dlprof_batch_end(ctypes.c_int64(i))
    time.sleep(0.002)
os.kill(os.getpid(), int(end[6:])) if end.startswith("signal") else sys.exit(int(end))
"""
HEAD = "INPUT-BOUND"


def start(folder, *words, **changes):
    """Starts `dlprof run` with these arguments in `folder`, with a new TMPDIR; returns that and the process."""
    scratch = t.scratch()
    environment = t.environment(preload=False, **{"TMPDIR": scratch, "DLPROF_OUT": None,
                                                  "DLPROF_QUIET": None, **changes})
    return scratch, subprocess.Popen([t.DLPROF, "run"] + list(words), env=environment, cwd=folder,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     universal_newlines=True, start_new_session=True)


def done(scratch, process):
    out, err = process.communicate(timeout=60)
    t.equal(glob.glob(os.path.join(scratch, "dlprof-runs-*")), [], "the list is left")
    return process.returncode, out, err


def training(program, count=60, end="0"):
    return [t.PYTHON, program, str(count), end]


def check_ends(program):
    """However the command ends, dlprof has its status and output, and prints the report."""
    for end, status in (("0", 0), ("3", 3), ("255", 255), ("signal15", -15), ("signal9", -9),
                        ("signal11", -11)):
        folder = t.scratch()
        found = done(*start(folder, *training(program, end=end)))
        t.equal(found[:2], (status, "to stdout\n"), "end", end, found[2])
        t.equal(found[2].count(HEAD), 1, "reports", end, found[2])
        t.equal("% of the time waiting" in found[2], False, "and the line at exit", found[2])
        name, = t.databases(folder)
        head = found[2].splitlines()[-22:][0]
        t.check(os.path.basename(name) in found[2] and folder not in head, "the run's name", head)


def check_quiet(program):
    """No report is printed if it is not wanted, if another process prints it, or if there is no run."""
    for words, changes in ((["-q"], {}), ([], {"DLPROF_QUIET": "1"}), ([], {"RANK": "1"}),
                           ([], {"SLURM_PROCID": "7"}), (["--exec"], {})):
        found = done(*start(t.scratch(), *words, *training(program), **changes))
        t.equal((found[0], HEAD in found[2]), (0, False), words, changes, found[2])
    found = done(*start(t.scratch(), "echo", "x"))
    t.equal(found, (0, "x\n", ""), "no loader")
    found = done(*start(t.scratch(), "--", *training(program), RANK="0"))
    t.equal(found[2].count(HEAD), 1, "rank 0", found[2])


def check_odd_folder(program):
    """The report is printed also where the folder's name has line ends and tabs."""
    folder = os.path.join(t.scratch(), "two\nlines\tand a tab")
    os.mkdir(folder)
    found = done(*start(folder, *training(program)))
    t.equal((found[0], found[2].count(HEAD)), (0, 1), "reports", found[2])


def group(leader, file="comm", words=""):
    """Returns the process ids of a group, the leader's first: all, or those with words in /proc/PID/FILE."""
    found = []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            with open("/proc/{}/{}".format(pid, file), errors="replace") as text:
                has_words = words in text.read().replace("\0", " ")
            found += [pid] if has_words and os.getpgid(pid) == leader else []
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            pass
    return sorted(found)


def alone(leader):
    return [leader]


def check_two_signals(caught):
    """Two signals to all processes, the second up to 2 ms after the first, reach the command once each."""
    both = caught.replace("SIGUSR1, lambda *_: seen.append(1))", "SIGUSR1, lambda *_: seen.append(1))\n"
                          "signal.signal(signal.SIGUSR2, lambda *_: seen.append(2))")
    scratch, process = start(t.scratch(), t.PYTHON, "-c", both.replace("len(seen)", "seen.count(1), seen.count(2)"))
    t.equal(process.stdout.readline(), "ready\n", "started")
    for at in range(80):
        os.killpg(process.pid, signal.SIGUSR1)
        time.sleep(at % 40 * 5e-5)
        os.killpg(process.pid, signal.SIGUSR2)
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    t.equal(done(scratch, process), (9, "seen 80 80\n", ""), "two signals at nearly the same time")


def check_signals(program):
    """A signal to dlprof, to all processes as by Slurm, or to both as by timeout(1), reaches the command once."""
    caught = """
import os, signal, sys, time
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
signal.signal(signal.SIGTERM, lambda *_: (print("seen", len(seen), flush=True), sys.exit(9)))
print("ready", flush=True)
while True: time.sleep(1)
"""
    for choices in ((alone, group, alone), (lambda pid: [pid] + group(pid),),
                    (lambda pid: group(pid, "comm", "dlprof"),), (lambda pid: group(pid, "cmdline", "dlprof run"),),
                    (lambda pid: group(pid, "cmdline", "import os"),)):
        scratch, process = start(t.scratch(), t.PYTHON, "-c", caught)
        t.equal(process.stdout.readline(), "ready\n", "started")
        for receivers in choices:
            first, *others = receivers(process.pid)
            os.kill(first, signal.SIGUSR1)
            time.sleep(0.01)
            for pid in others:
                os.kill(pid, signal.SIGUSR1)
            time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        t.equal(done(scratch, process), (9, "seen {}\n".format(len(choices)), ""), "passed on", choices)
    left = caught.replace("seen = []", "seen = []; os.setpgid(0, 0)")
    scratch, process = start(t.scratch(), t.PYTHON, "-c", left)
    t.equal(process.stdout.readline(), "ready\n", "started")
    os.killpg(process.pid, signal.SIGUSR1)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    t.equal(done(scratch, process), (9, "seen 1\n", ""), "passed on to a command in a group of its own, as timeout is")
    check_two_signals(caught)
    # The command may signal its group as the first thing that it does.
    at_once = ["sh", "-c", "trap 'echo once' USR1; kill -USR1 0; sleep .15"]
    t.equal({done(*start(t.scratch(), *at_once))[1] for _ in range(20)}, {"once\n"}, "signalled at once")
    scratch, process = start(t.scratch(), *training(program, 10000))
    t.equal(process.stdout.readline(), "to stdout\n", "started")
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    found = done(scratch, process)
    t.equal((found[0], found[2].count(HEAD)), (-15, 1), "ended by SIGTERM", found[2])
    text = "trap '' CHLD; exec {} run sh -c 'exit 4'".format(t.DLPROF)
    t.equal(t.run(["sh", "-c", text]).status, 4, "SIGCHLD ignored")


def check_interrupt(program):
    """Ctrl-C reaches the command once, and the report follows."""
    folder = t.scratch()
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(folder)
        environment = t.environment(preload=False, TMPDIR=folder, DLPROF_OUT=None)
        os.execve(t.DLPROF, [t.DLPROF, "run"] + training(program, 10000), environment)
    said = b""
    try:
        while b"to stdout" not in said:
            said += os.read(terminal, 4096)
        time.sleep(1)
        os.write(terminal, b"\x03")
        while True:
            said += os.read(terminal, 4096)
    except OSError:  # EIO: all processes have closed the terminal
        pass
    status = os.waitpid(pid, 0)[1]
    said = said.decode(errors="replace")
    t.equal((os.WIFSIGNALED(status), os.WTERMSIG(status)), (True, signal.SIGINT), "status", said)
    t.equal((said.count("KeyboardInterrupt"), said.count(HEAD)), (1, 1), "Ctrl-C", said)


def check_killed(program):
    """The command ends with dlprof, as if dlprof had become the command by exec()."""
    scratch, process = start(t.scratch(), t.PYTHON, "-c", "import os, time\n"
                             "print(os.getpid(), flush=True)\ntime.sleep(60)")
    child = int(process.stdout.readline())
    process.kill()
    process.communicate()
    for _ in range(100):
        try:
            with open("/proc/{}/stat".format(child)) as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    break
        except OSError:
            break
        time.sleep(0.05)
    else:
        t.check(False, "the command outlives dlprof")


def check_several(program):
    """Ranks at the same time are reported as a job; of runs after each other the last one is reported."""
    ranks = "for r in 0 1; do RANK=$r {} & done; wait".format(" ".join(training(program)))
    found = done(*start(t.scratch(), "sh", "-c", ranks))
    t.check("2 ranks" in found[2], "ranks", found[2])
    twice = "{0}; {0}".format(" ".join(training(program)))
    found = done(*start(t.scratch(), "sh", "-c", twice))
    t.check("2 runs were recorded; this is the last one" in found[2], "two runs", found[2])
    t.equal(found[2].count(HEAD), 1, "two runs", found[2])


def main():
    t.need_shim()
    program = os.path.join(t.scratch(), "training.py")
    with open(program, "w") as file:
        file.write(TRAINING)
    check_ends(program)
    check_quiet(program)
    check_odd_folder(program)
    check_signals(program)
    check_interrupt(program)
    check_killed(program)
    check_several(program)
    t.finish()


main()
