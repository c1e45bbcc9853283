# SPDX-License-Identifier: Apache-2.0
"""Fetches what tests need from PyPI, once, into BUILD/pypi: `venv`, decoders beside the installed
PyTorch, and `cupti`, wheels of CUPTI.

usage: pypi.py. tests/run.sh calls it. When a part is complete, its list of packages is copied
beside it; without that copy the part counts as missing, and its tests skip and print what pip said.
"""
import os
import re
import shutil
import subprocess

import dlprof_test as t

FOLDER = os.path.join(t.BUILD, "pypi")
LISTS = {"venv": os.path.join(t.ROOT, "tests", "e2e", "wheels.txt"),
         "cupti": os.path.join(t.ROOT, "tests", "cuda", "wheels.txt")}
TIMEOUT_S = 900
# Without a network this takes up to a minute; with pip's default of five tries it would take more.
PIP = ["-m", "pip", "--no-input", "--retries", "1", "--timeout", "20"]
COMPLAINTS = r"\[Errno [^']+|[\w ]+ timed out|certificate verify failed[^(']*|ERROR: .*"


def path(name, end=""):
    return os.path.join(FOLDER, name + end)


def wanted(name):
    """Returns the list of packages, for this interpreter."""
    with open(LISTS[name], encoding="utf-8") as file:
        return "{}# {}\n".format(file.read(), os.path.realpath(t.PYTHON))


def is_whole(name):
    try:
        with open(path(name, ".done"), encoding="utf-8") as file:
            return file.read() == wanted(name) and os.path.isdir(path(name))
    except OSError:
        return False


def why_not(name):
    """Returns what pip complained about, or that tests/run.sh was not called.

    Without a network pip's last line says "no such package"; the real reason is in a line above."""
    try:
        with open(path(name, ".log"), encoding="utf-8", errors="replace") as log:
            text = log.read()
    except OSError:
        return "tests/run.sh does it"
    found = re.findall(COMPLAINTS, text) or text.splitlines()[-1:]
    return "{} ({})".format(found[0] if found else "stopped", path(name, ".log"))


def need(name, variable):
    """Returns the folder that an environment variable names, or the fetched one; skips without."""
    named = os.environ.get(variable)
    if not named and not is_whole(name):
        t.skip("not fetched from PyPI: " + why_not(name))
    return named or path(name)


def steps(name):
    """Returns the commands that fetch a part."""
    if name == "cupti":
        with open(LISTS[name], encoding="utf-8") as file:
            return [[t.PYTHON] + PIP + ["download", "--no-deps", "-d", path(name)] + line.split()
                    for line in file if not line.startswith("#")]
    find = "import numpy; print('.'.join(numpy.__version__.split('.')[:2]))"
    version = subprocess.run([t.PYTHON, "-c", find], stdout=subprocess.PIPE, check=True)
    # PyTorch was built for numpy 1 or 2; any later numpy of that major version works. Without
    # --ignore-installed pip would take the system's Pillow.
    return [[t.PYTHON, "-m", "venv", "--without-pip", "--system-site-packages", path(name)],
            [os.path.join(path(name), "bin", "python")] + PIP +
            ["install", "--ignore-installed", "--only-binary", ":all:", "-r", LISTS[name],
             "numpy~=" + version.stdout.decode().strip()]]


def fetch(name):
    for end in (".done", ".log"):
        if os.path.exists(path(name, end)):
            os.unlink(path(name, end))
    shutil.rmtree(path(name), ignore_errors=True)
    os.makedirs(FOLDER, exist_ok=True)
    t.say("fetching {} from PyPI into {}".format(name, FOLDER))
    with open(path(name, ".log"), "w", encoding="utf-8") as log:
        try:
            for command in steps(name):
                subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                               check=True, timeout=TIMEOUT_S)
        except (OSError, subprocess.SubprocessError) as error:
            print("ERROR:" if isinstance(error, subprocess.TimeoutExpired) else "", error, file=log)
            shutil.rmtree(path(name), ignore_errors=True)
    if not os.path.isdir(path(name)):
        t.say("not fetched:", why_not(name))
        return
    with open(path(name, ".done"), "w", encoding="utf-8") as done:
        done.write(wanted(name))


if __name__ == "__main__":
    for part in LISTS:
        if not is_whole(part):
            fetch(part)
