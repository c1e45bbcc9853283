# SPDX-License-Identifier: Apache-2.0
"""The interpreters that can be found, and what pysample says of a process."""
import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import BUILD, check, environment  # noqa: E402

PYSAMPLE = os.path.join(BUILD, "tests", "lines", "pysample")
FOLDER = os.path.dirname(os.path.abspath(__file__))
OLDEST, NEWEST = (3, 8), (3, 15)  # that are observed


def all_commands():
    """As lists: the system's, pyenv's and those of TEST_PYTHONS, which are separated by colons."""
    root = os.environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    paths = glob.glob("/usr/bin/python3.*") + glob.glob("/usr/local/bin/python3.*")
    paths = [path for path in paths if os.path.basename(path)[len("python3."):].isdigit()]
    paths += glob.glob(os.path.join(root, "versions", "3.*", "bin", "python3"))
    return [[path] for path in sorted(paths)] + \
        [text.split() for text in os.environ.get("TEST_PYTHONS", "").split(":") if text]


def version_of(command):
    """(3, 11), or None of one that does not start; and whether it is free-threaded."""
    text = ("import sys; print(sys.version_info[0], sys.version_info[1], "
            "int(not getattr(sys, '_is_gil_enabled', lambda: True)()), sys.implementation.name)")
    done = subprocess.run(command + ["-c", text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    words = done.stdout.decode().split()
    if done.returncode or words[2:] != ["0", "cpython"]:
        return None
    return int(words[0]), int(words[1])


def observed():
    """{name: command} of those that are to be observed, oldest first."""
    found = [(version_of(command), command) for command in all_commands()]
    return {"{}.{} {}".format(*(version + (command[-1],))): command for version, command in
            sorted((v, c) for v, c in found if v and OLDEST <= v <= NEWEST)}


def source(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def start(command, name, *arguments, **keywords):
    """The program, as text that the interpreter is given: it may lie in another root."""
    return subprocess.Popen(command + ["-c", source(name)] + list(arguments),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            env=environment(preload=False, PYTHONUTF8="1"), **keywords)


def told(process):
    """The next line of JSON that it prints."""
    line = process.stdout.readline()
    return json.loads(line.decode()) if check(line, "the program said nothing") else {}


def sample(pid, *arguments, before=()):
    """The samples, and what the last line says."""
    done = subprocess.run(list(before) + [PYSAMPLE] + list(map(str, arguments)) + [str(pid)],
                          stdout=subprocess.PIPE, timeout=300)
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    return lines[:-1], lines[-1] if lines else {"reason": "it failed"}


def end(process):
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
