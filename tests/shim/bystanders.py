# SPDX-License-Identifier: Apache-2.0
"""Programs that load no data have the same output and status under the preload, and no files are left.

LD_PRELOAD reaches every child of a training script, so that most processes under it are of this kind.
"""
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, SHIM, check, environment, equal, finish, need_shim, run,  # noqa
                         say, scratch, wait_for_drain)

COMMANDS = [
    ["ls", "-la", "/etc"],
    ["cat", "/etc/passwd"],
    ["bash", "-c", "for i in 1 2 3; do echo $i; done | while read x; do echo got $x; done; exit 5"],
    ["bash", "-c", "exec 3</etc/passwd; read -u 3 line; echo $line; exec 3<&-; ulimit -n; kill $$"],
    ["sh", "-c", "cd /; ls | sort | head -3; exec env -i /bin/echo done"],
    ["env", "-i", "/bin/echo", "hello"],
    ["git", "--version"],
    ["grep", "-c", "root", "/etc/passwd", "/etc/group", "/nonexistent"],
    ["dd", "if=/etc/passwd", "of=/dev/null", "status=none"],
    ["cp", "--sparse=always", "/etc/passwd", "copy"],
    ["tar", "cf", "-", "-C", "/etc", "passwd"],
    ["find", "/etc/apt", "-type", "f"],
    ["gzip", "-c", "/etc/passwd"],
    ["perl", "-e", "open F, '/etc/passwd'; print while <F>; exit 3"],
    [PYTHON, "-c", "pass"],
    [PYTHON, "-c", "import sys; print(open('/etc/passwd').read()); sys.exit(9)"],
    [PYTHON, "-X", "dev", "-c", "import json, ssl; print(open('/etc/passwd', 'rb').read())"],
    [PYTHON, "-c", "import os; os.write(1, b'x'); os.abort()"],
    [PYTHON, "-c", "import os; os.write(1, b'x'); os._exit(11)"],
    [PYTHON, "-c", "import os; os.closerange(3, 65536); print(os.listdir('/proc/self/fd'))"],
    # dlprof opens no descriptor, starts no thread and loads nothing of CUDA in it, even after 0.3 s.
    [PYTHON, "-c", "import os, time; time.sleep(0.3); print(sorted(os.listdir('/proc/self/fd')),"
     "len(os.listdir('/proc/self/task')), 'libcu' in open('/proc/self/maps').read())"],
    [PYTHON, "-c", "import subprocess as s; f = open('/etc/passwd'); s.run(['true']);"
     "print(f.read(), s.run(['cat', '/etc/group'], capture_output=True).stdout)"],
    [PYTHON, "-c", "import torch; print(torch.__version__)"],
    [PYTHON, "-c", "import torch.utils.data as d; print(d.DataLoader([1, 2, 3]).batch_size)"],
]


UNSEEN = re.compile(r"dlprof: torch was imported, but no loader was seen .*\n")


def same(argv):
    if not shutil.which(argv[0]):
        return False
    folder, results = scratch(), []
    for preload in (False, True):
        env = environment(preload, TMPDIR=folder)
        done = run(argv, env=env, cwd=folder)
        # dlprof prints one line only: that a framework was imported, of which it saw no loader.
        results.append((done.status, done.out, UNSEEN.sub("", done.err)))
        equal([n for n in os.listdir(folder) if n != "copy"], [], argv, "left behind")
    if argv[-1].startswith("import torch") and results[0][0]:
        return False
    for mine, theirs, what in zip(results[1], results[0], ("status", "stdout", "stderr")):
        equal(mine, theirs, argv, what)
    return True


def check_orders():
    """Programs work with other libraries preloaded before or after dlprof, and with dlprof named twice."""
    others = [path for path in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4")
              if run([PYTHON, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", path],
                     env=environment(False)).status == 0]
    for other in others + [SHIM]:
        for value in (SHIM + ":" + other, other + ":" + SHIM):
            for argv in (["ls", "/"], [PYTHON, "-c", "print(len(open('/etc/passwd').read()))"]):
                plain = run(argv, env=environment(False))
                done = run(argv, env=environment(LD_PRELOAD=value))
                equal((done.status, done.out, done.err), (plain.status, plain.out, plain.err),
                      "LD_PRELOAD=" + value, argv)
    say("preloaded together with", others)


def check_late():
    """The library can be loaded late, as by a Python binding: ld.so has thread-local storage left for it."""
    program = "import sys, torch, torchvision, ctypes; ctypes.CDLL(sys.argv[1]);" \
              "print(len(open('/etc/passwd').read()), float(torch.ones(9).sum()))"
    if not run([PYTHON, "-c", "import torchvision"], env=environment(False)).status:
        done = run([PYTHON, "-W", "ignore", "-c", program, SHIM], env=environment(False))
        equal((done.status, done.out, done.err),
              (0, "{} 9.0\n".format(os.path.getsize("/etc/passwd")), ""), "loaded late")


def check_fork_warning():
    """CPython, which from 3.12 on warns at fork() of threads that it did not start, finds none. The test
    uses `-W always`, since CPython drops the exception that `-W error` makes of this warning."""
    program = "import os, time; pid = os.fork(); time.sleep(0.1 if pid else 0)\n" \
              "os._exit(7) if not pid else print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    for python in glob.glob(os.path.join(os.environ.get("PYENV_ROOT") or os.path.expanduser(
            "~/.pyenv"), "versions", "3.1[2-9].*", "bin", "python3")) + [PYTHON]:
        folder = scratch()
        done = run([python, "-W", "always", "-c", program], env=environment(
            TMPDIR=folder, DLPROF_ACTIVATE="always", DLPROF_QUIET=1,
            DLPROF_OUT=os.path.join(folder, "run.db")))
        equal((done.status, done.out, done.err), (0, "7\n", ""), python, "forks, recording")
        wait_for_drain(folder)


def main():
    need_shim()
    count = sum(same(argv) for argv in COMMANDS)
    say(count, "of", len(COMMANDS), "commands exist here and were compared")
    check(count >= 10, "hardly any command was found")
    check_orders()
    check_late()
    check_fork_warning()
    finish()


main()
