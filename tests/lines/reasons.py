# SPDX-License-Identifier: Apache-2.0
"""A process that is not observed says why; one whose files are gone is observed all the same."""
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pythons  # noqa: E402
from dlprof_test import check, equal, environment, finish, sandboxed, say, scratch  # noqa: E402

PYTHON = "/usr/bin/python3"
OTHER, NOBODY = 1234, 65534
OBSERVED, GONE = "they are observed", "the process has ended"
DENIED = "the kernel does not permit reading the memory of the process"
NO_PYTHON = "the program is not CPython"
VERSION = "this version of CPython is not known"
NOT_READY = "the interpreter has not started yet, or has ended"
SLEEPS = "import sys, time; print(1, flush=True); time.sleep(1000)"


class Program:
    """Runs until the end of the block; has said that it has begun."""

    def __init__(self, argv, says=True, **keywords):
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.PIPE,
                                        env=environment(preload=False, **keywords.pop("env", {})),
                                        **keywords)
        self.pid = self.process.pid
        if says:
            check(self.process.stdout.readline(), argv, "did not begin")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pythons.end(self.process)


def reason(pid, *arguments, before=()):
    return pythons.sample(pid, *arguments, before=before)[1]["reason"]


def as_user(uid):
    return ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"]


def check_rights():
    if os.getuid() != 0 or not shutil.which("setpriv"):
        say("not root: what other users may read is not tried")
        return
    # Not from a folder that only root may enter.
    folder = scratch()
    os.chmod(folder, 0o755)
    sampler = shutil.copy(pythons.PYSAMPLE, folder)
    pythons.PYSAMPLE, kept = sampler, pythons.PYSAMPLE
    hidden = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); " + SLEEPS
    for name, uid, text, expected in (("of the same user", NOBODY, SLEEPS, OBSERVED),
                                      ("of another user", OTHER, SLEEPS, DENIED),
                                      ("that is not dumpable", NOBODY, hidden, DENIED)):
        with Program(as_user(uid) + [PYTHON, "-c", text]) as program:
            equal(reason(program.pid, before=as_user(NOBODY)), expected, "a process", name)
    pythons.PYSAMPLE = kept


def check_sandbox():
    with Program([PYTHON, "-c", SLEEPS]) as program:
        for error, expected in (("EPERM", DENIED),
                                ("ENOSYS", "this system has no process_vm_readv()")):
            deny = sandboxed(["process_vm_readv=" + error], [], preload=False)
            equal(reason(program.pid, before=deny), expected, "where the call ends with", error)
        deny = sandboxed(["pidfd=ENOSYS"], [], preload=False)
        equal(reason(program.pid, before=deny), OBSERVED, "on a kernel without pidfd_open()")


def check_ends():
    with Program([PYTHON, "-c", SLEEPS]) as program:
        equal(reason(program.pid, "-s", 12345), GONE, "another process of the same number")
        sampler = subprocess.Popen([pythons.PYSAMPLE, "-q", "-n", "1000000", "-i", "1000",
                                    str(program.pid)], stdout=subprocess.PIPE)
        time.sleep(0.3)
        os.kill(program.pid, signal.SIGKILL)
        out = sampler.communicate(timeout=30)[0].decode()
        check(GONE in out, "a process that is killed", out)
        equal(reason(program.pid), GONE, "a zombie")
    equal(reason(program.pid), GONE, "a process that was")


def check_execve():
    text = "import os, sys; print(1, flush=True); sys.stdin.readline(); os.execv(sys.argv[1], sys.argv[1:])"
    # The same program may have its interpreter at the same address, and is observed on.
    for argv, told, after in ((["/bin/sleep", "1000"], [NOT_READY], NO_PYTHON),
                              ([PYTHON, "-c", SLEEPS], [NOT_READY, OBSERVED], OBSERVED)):
        with Program([PYTHON, "-c", text] + argv) as program:
            sampler = subprocess.Popen([pythons.PYSAMPLE, "-q", "-n", "2000", "-i", "1000",
                                        str(program.pid)], stdout=subprocess.PIPE)
            time.sleep(0.3)
            program.process.stdin.write(b"\n")
            program.process.stdin.flush()
            out = sampler.communicate(timeout=30)[0].decode()
            check(any(text in out for text in told), "a program that becomes", argv, out)
            time.sleep(0.3)
            equal(reason(program.pid), after, "after it became", argv)


def check_programs():
    with Program(["/bin/sleep", "1000"], says=False) as program:
        time.sleep(0.1)
        equal(reason(program.pid), NO_PYTHON, "sleep")
    for path in pythons.all_commands():
        version = pythons.version_of(path)
        if version and not pythons.OLDEST <= version <= pythons.NEWEST:
            expected = VERSION if version >= (3, 7) else NO_PYTHON
            with Program(path + ["-c", SLEEPS]) as program:
                equal(reason(program.pid), expected, path)
    folder = scratch()
    with open(os.path.join(folder, "wide.c"), "w") as file:
        file.write("#include <unistd.h>\nint main(void) { write(1, \"1\\n\", 2); pause(); return 0; }\n")
    wide = os.path.join(folder, "wide")
    if subprocess.run(["gcc", "-m32", "-o", wide, wide + ".c"], stderr=subprocess.DEVNULL).returncode:
        say("no 32-bit compiler: a 32-bit program is not tried")
        return
    with Program([wide]) as program:
        equal(reason(program.pid), "the program is a 32-bit one", "a 32-bit program")


def check_files():
    """The executable deleted, replaced, under another name; a library deleted."""
    folder = scratch()
    home = {"PYTHONHOME": "/usr"}
    copy = shutil.copy(os.path.realpath(PYTHON), os.path.join(folder, "trainer"))
    with Program([copy, "-c", SLEEPS], env=home) as program:
        equal(reason(program.pid), OBSERVED, "an executable of another name")
        os.unlink(copy)
        equal(reason(program.pid), OBSERVED, "an executable that is deleted")
        shutil.copy("/bin/sleep", copy)
        equal(reason(program.pid), OBSERVED, "an executable that is replaced")
    loader = glob.glob("/lib64/ld-linux-x86-64.so.2") + glob.glob("/lib/ld-linux-aarch64.so.1")
    if loader:
        with Program([loader[0], os.path.realpath(PYTHON), "-c", SLEEPS]) as program:
            equal(reason(program.pid), OBSERVED, "a program whose loader was named")


def check_libraries():
    root = os.environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    found = sorted(glob.glob(os.path.join(root, "versions", "3.1[0-9].*", "lib", "libpython3.*.so.1.0")))
    if not found:
        say("no libpython of pyenv's: a library that is deleted is not tried")
        return
    folder, version = scratch(), os.path.dirname(os.path.dirname(found[-1]))
    library = shutil.copy(found[-1], folder)
    env = {"LD_LIBRARY_PATH": folder, "PYTHONHOME": version}
    python = os.path.join(version, "bin", "python3")
    with Program([python, "-c", SLEEPS], env=env) as program:
        equal(reason(program.pid), OBSERVED, "an interpreter in a library")
        os.unlink(library)
        expected = OBSERVED if os.getuid() == 0 else "the file of the interpreter cannot be read"
        equal(reason(program.pid), expected, "a library that is deleted")
    for one in found:
        text = "import ctypes; ctypes.CDLL({!r}, 2); ".format(one) + SLEEPS
        with Program([python, "-c", text]) as program:
            equal(reason(program.pid), OBSERVED, "with another library beside its own:", one)


def main():
    check_rights()
    check_sandbox()
    check_ends()
    check_execve()
    check_programs()
    check_files()
    check_libraries()
    finish()


main()
