# SPDX-License-Identifier: Apache-2.0
"""The wheel: what is in it, where it runs, and that its library is as harmless as the built one.

usage: wheel.py CALLS.PY'S ARGUMENTS. Its library comes from another compiler and is linked with an
older C library than the one that all other tests see; TEST_PREFIX shows it to any of them.
"""
import os
import platform
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (PYTHON, ROOT, SHIM, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, report, rows, run, say, scratch, skip, wait_for_drain)

WORK = os.path.join(ROOT, "build", "wheel")
TOOLS = os.path.join(WORK, "tools", "bin")
ARCH = platform.machine()
TAG = "py3-none-manylinux_2_28_" + ARCH
FILES = {"dlprof/__init__.py", "dlprof/__main__.py", "dlprof/lake.py", "dlprof/bin/dlprof",
         "dlprof/bin/dlprof-report", "dlprof/include/dlprof.h", "dlprof/lib/libdlprof.so",
         "dlprof/libexec/dlprof/dlprof-drain"}
HARMLESS = ["shim/killed_start", "shim/own_file", "shim/planted", "shim/stderr",
            "e2e/missing_folder"]  # the quick ones
BATCHES = 40
TRAINING = """
import torch.utils.data as data
print(sum(int(sum(batch)) for batch in data.DataLoader(list(range({})), num_workers=2)))
""".format(BATCHES)


def must(argv, **keywords):
    done = run(argv, env=environment(False), timeout=900, **keywords)
    if not equal(done.status, 0, argv, done.out[-2000:], done.err[-2000:]):
        finish()
    return done.out


def build(folder):
    for part in ("tools", "sqlite"):
        if not os.path.exists(os.path.join(WORK, part, "done")):
            skip("not fetched: packaging/wheel.sh fetch")
    # The library has its own flags, as it is delivered; the programs are those of all other tests.
    must(["env", "OPTIMIZATION=0", "sh", os.path.join(ROOT, "packaging", "wheel.sh"), "-o", folder,
          ARCH])
    names = os.listdir(folder)
    equal(len(names), 1, "wheels", names)
    check(names[0].startswith("dlprof-") and names[0].endswith("-" + TAG + ".whl"), names[0])
    return os.path.join(folder, names[0])


def exports(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                           stdout=subprocess.PIPE).stdout.decode().split("\n")
    return {line.split()[2].split("@")[0] for line in lines if line and " A " not in line}


def check_contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    equal(names, FILES, "what is in the wheel")
    said = must([os.path.join(TOOLS, "auditwheel"), "show", wheel])
    check('"manylinux_2_28_{}"'.format(ARCH) in said, "auditwheel", said)


def install(folder, wheel):
    """As a user without a network and without root."""
    must([PYTHON, "-m", "venv", "--without-pip", "--system-site-packages", folder])
    must([os.path.join(TOOLS, "python"), "-m", "pip", "--python", os.path.join(folder, "bin", "python"),
          "install", "-q", "--no-index", wheel])
    home = subprocess.run([os.path.join(folder, "bin", "python"), "-c",
                           "import dlprof; print(dlprof.LIBRARY)"],
                          check=True, stdout=subprocess.PIPE).stdout.decode().strip()
    return os.path.join(folder, "bin"), home


def check_training(programs, name, command):
    database = os.path.join(scratch(), "run.db")
    done = run(command + ["run", "-q", "-o", database] + [os.path.join(programs, "python")] +
               ["-c", TRAINING], env=environment(False))
    equal((done.status, done.out, done.err), (0, "{}\n".format(sum(range(BATCHES))), ""), name)
    wait_for_drain(database)
    equal(rows(database, "SELECT count(*) AS n FROM batch")[0]["n"], BATCHES, name, "batches")
    equal(rows(database, "SELECT count(*) AS n FROM load")[0]["n"], BATCHES, name, "loads")
    done = run([os.path.join(programs, "dlprof-report"), database], env=environment(False))
    check(done.status in (0, 3) and "dlprof" in done.out, name, "dlprof-report", done.err)


def check_interpreter(programs):
    """`python -m dlprof run -m x` and `... run x.py` mean that Python, other commands themselves."""
    python = os.path.join(programs, "python")
    for words, expected in ((["-m", "x.y"], [python, "-m", "x.y"]),
                            (["train.py", "--lr", "1"], [python, "train.py", "--lr", "1"]),
                            (["-o", "a.py", "true"], ["true"]),
                            (["--", "true"], ["true"]),
                            (["python3", "-m", "x"], ["python3", "-m", "x"])):
        done = run([python, "-m", "dlprof", "run", "-n"] + words, env=environment(False))
        equal(done.out.split("\\\n")[-1].split(), expected, words, done.err)


def check_harmless(prefix):
    """Tests of the build, which look at the installed files instead."""
    tests = [[os.path.join(ROOT, "tests", name + ".py")] for name in HARMLESS]
    for argv in [sys.argv[1:]] + tests:
        done = run([sys.executable] + argv, timeout=300, env=environment(False, TEST_PREFIX=prefix))
        say(os.path.basename(argv[0]), done.out.strip()[-500:])
        equal(done.status, 0, "with the wheel's files", argv[0], done.err[-500:])


def main():
    need_shim()
    need_torch()
    wheel = build(scratch())
    check_contents(wheel)
    programs, library = install(os.path.join(scratch(), "environment"), wheel)
    equal(exports(library), exports(SHIM), "what the library exports")
    check_training(programs, "dlprof run:", [os.path.join(programs, "dlprof")])
    check_training(programs, "python -m dlprof run:", [os.path.join(programs, "python"), "-m",
                                                       "dlprof"])
    check_interpreter(programs)
    check_harmless(os.path.dirname(os.path.dirname(library)))
    finish()


main()
