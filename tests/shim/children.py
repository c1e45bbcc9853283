# SPDX-License-Identifier: Apache-2.0
"""Children in which dlprof cannot be loaded are unharmed by LD_PRELOAD, whoever starts them.

usage: children.py musl|static|setuid|i386|chroot: how child.c is built. Only ld.so's own message on a
library that it cannot load may be new in the output.
"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (DRAIN, PYTHON, SHIM, check, databases, environment, equal,  # noqa
                         finish, need_shim, run, say, scratch, skip, wait_for_drain)

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child.c")
IGNORED = re.compile(r"ERROR: ld\.so: object '[^']*' from LD_PRELOAD cannot be preloaded "
                     r"\([^)]*\): ignored\.\n")
# A Python program, which may record, that starts the child.
STARTER = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
NOBODY = 65534


def build(compiler, *flags):
    folder = scratch()
    program = os.path.join(folder, "child")
    if not shutil.which(compiler):
        skip("no " + compiler)
    done = run([compiler, "-o", program, SOURCE] + list(flags), env=environment(False))
    if done.status:
        skip("{} cannot build for this: {}".format(compiler, done.err.strip()[-300:]))
    with open(os.path.join(folder, "data"), "w") as data:
        data.write("0123456789 abcdefghij\nklmnopqrst uvwxyz\n" * 10)
    os.chmod(folder, 0o755)
    return program


def readable_copy():
    """Copies the library and drain to a folder that any user may read: the checkout may lie in somebody's home."""
    folder = scratch()
    os.chmod(folder, 0o755)
    shutil.copy(DRAIN, folder)
    return shutil.copy(SHIM, folder)


def same(name, argv, program, noise="", recording=False, preload=None, **user):
    """Checks that the program, started directly, by a shell and by Python, prints nothing new but `noise`."""
    plain = run(argv, env=environment(False), cwd=os.path.dirname(program), **user)
    equal(plain.status, 7, name, "works without us", plain.out, plain.err)
    for prefix in ([], ["sh", "-c", '"$@"; exit $?', "sh"], [PYTHON, "-c", STARTER]):
        for when in (None, "always"):
            out = scratch()
            os.chmod(out, 0o777)
            done = run(prefix + argv, cwd=os.path.dirname(program), timeout=60, env=environment(
                LD_PRELOAD=preload or readable_copy(), DLPROF_ACTIVATE=when, DLPROF_QUIET=1,
                DLPROF_OUT=os.path.join(out, "%p.db"), TMPDIR=out), **user)
            equal((done.status, done.out), (plain.status, plain.out), name, prefix[:1], when)
            equal(IGNORED.sub("", done.err), plain.err, name, prefix[:1], when, "stderr")
            said = IGNORED.findall(done.err)
            check(bool(said) == bool(noise) and all(noise in line for line in said), name,
                  prefix[:1], "what ld.so says", said, "expected", noise)
            wait_for_drain(out)
            if not prefix and argv[0] == program:
                equal(bool(databases(out)), recording and when == "always", name, when,
                      "has recorded")
            shutil.rmtree(out)


def check_musl():
    program = build("musl-gcc")
    # The library must import nothing that only glibc has, or musl's ld.so ends the program at its start.
    same("musl", [program], program)


def check_static():
    program = build("gcc", "-static")
    same("static", [program], program)


def need_root():
    if os.getuid() != 0:
        skip("not root")


def check_setuid():
    need_root()
    program = build("gcc")
    os.chmod(program, 0o4755)
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    if "euid 0" not in run([program], env=environment(False), cwd=os.path.dirname(program),
                           **user).out:
        skip("the folder for temporary files takes no setuid programs")
    same("setuid", [program], program, **user)
    os.chmod(program, 0o755)
    setcap = shutil.which("setcap") or shutil.which("setcap", path="/sbin:/usr/sbin")
    if not setcap or subprocess.run([setcap, "cap_net_raw+ep", program],
                                    stderr=subprocess.DEVNULL).returncode:
        say("no setcap, or no file capabilities here: not tried")
        return
    same("file capability", [program], program, **user)
    run([setcap, "-r", program], env=environment(False))
    same("neither", [program], program, recording=True, **user)


def check_i386():
    # The kernel's headers serve both widths. gcc-multilib, which adds their folder, excludes cross compilers.
    program = build("gcc", "-m32", "-idirafter", "/usr/include/x86_64-linux-gnu")
    same("32 bits", [program], program, noise="wrong ELF class")
    # The README's way against the message: $LIB in the path, and any 32-bit library in that folder.
    folder = scratch()
    os.chmod(folder, 0o755)
    ours = os.path.join(folder, "lib", "x86_64-linux-gnu")
    os.makedirs(ours)
    os.symlink(readable_copy(), os.path.join(ours, "libdlprof.so"))
    for name in ("lib32", "lib/i386-linux-gnu"):
        os.makedirs(os.path.join(folder, name))
        subprocess.run(["gcc", "-m32", "-shared", "-nostdlib", "-x", "c", "/dev/null", "-o",
                        os.path.join(folder, name, "libdlprof.so")], check=True)
    same("32 bits, $LIB", [program], program, preload=os.path.join(folder, "$LIB/libdlprof.so"))
    program = build("gcc")
    same("64 bits, $LIB", [program], program, recording=True,
         preload=os.path.join(folder, "$LIB/libdlprof.so"))


def check_chroot():
    """The new root has the program and its libraries, but not dlprof's library."""
    need_root()
    program = build("gcc")
    root = os.path.dirname(program)
    libraries = re.findall(r"(/\S+) \(0x", run(["ldd", program], env=environment(False)).out)
    for path in libraries:
        os.makedirs(os.path.join(root, os.path.dirname(path)[1:]), exist_ok=True)
        shutil.copy(path, os.path.join(root, path[1:]))
    argv = [shutil.which("chroot") or "/usr/sbin/chroot", root, "/child", "/data"]
    if run(argv, env=environment(False)).status != 7:
        skip("chroot does not work here")
    same("chroot", argv, program, noise="cannot open shared object file")


def main():
    need_shim()
    {"musl": check_musl, "static": check_static, "setuid": check_setuid, "i386": check_i386,
     "chroot": check_chroot}[sys.argv[1]]()
    finish()


main()
