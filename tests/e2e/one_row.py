# SPDX-License-Identifier: Apache-2.0
"""The rows that CONTRIBUTING.md adds for a loader are all that it takes to follow one.

usage: one_row.py. In a copy of the tree and of the build, with them, what they change is built anew.
"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (BUILD, PYTHON, ROOT, check, environment, equal, finish, need_shim,  # noqa
                         rows, run, scratch, skip, wait_for_drain)
from loops import DRIVER, epochs_of, split  # noqa: E402

TABLES = {"LOADER": "shim/python/loaders/loaders.def", "FRAMEWORK": "include/dlprof/frameworks.def"}
LIBRARY = """
import time
class Loader:
    def __iter__(self):
        for i in range(12):
            time.sleep(0.002)
            yield i
"""
PROGRAM = DRIVER + """
from mylib.data import Loader
loader = Loader()
for _ in range(2): drain(iter(loader).__next__)
"""


def copy(source, target):
    if os.path.isdir(source):
        shutil.copytree(source, target)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(source, target)


def build(folder):
    """A library with the rows of the page."""
    source = os.path.join(folder, "source")
    made = os.path.join(source, os.path.relpath(BUILD, ROOT))
    if ".." in made:
        skip("the build is not in the tree")
    # What was compiled is taken for that only with its times.
    for name in ("analyzer", "include", "shim", "tests", "meson.build", "meson_options.txt"):
        copy(os.path.join(ROOT, name), os.path.join(source, name))
    for name in ("build.ninja", ".ninja_log", ".ninja_deps", "meson-private", "include", "shim"):
        copy(os.path.join(BUILD, name), os.path.join(made, name))
    with open(os.path.join(ROOT, "CONTRIBUTING.md")) as page:
        found = re.findall(r"^    ((LOADER|FRAMEWORK)\(.*\))$", page.read(), re.M)
    equal(sorted(table for _, table in found), sorted(TABLES), "rows of the page")
    for row, table in found:
        with open(os.path.join(source, TABLES[table]), "a") as file:
            file.write(row + "\n")
    done = subprocess.run(["ninja", "-C", made, "shim/libdlprof.so"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if not equal(done.returncode, 0, "ninja", done.stdout.decode()[-2000:]):
        finish()
    os.mkdir(os.path.join(made, "analyzer"))
    shutil.copy(os.path.join(BUILD, "analyzer", "dlprof-drain"), os.path.join(made, "analyzer"))
    return os.path.join(made, "shim", "libdlprof.so")


def record(folder, **changes):
    """The program's waits and its database."""
    database = os.path.join(scratch(), "run.db")
    done = run([PYTHON, os.path.join(folder, "program.py")],
               env=environment(DLPROF_OUT=database, DLPROF_QUIET=1, PYTHONPATH=folder, **changes))
    equal((done.status, done.err), (0, ""), "the program")
    return split(done.out)[0], database


def main():
    need_shim()
    if not shutil.which("ninja"):
        skip("no ninja")
    folder = scratch()
    os.mkdir(os.path.join(folder, "mylib"))
    for name, text in (("mylib/__init__.py", ""), ("mylib/data.py", LIBRARY),
                       ("program.py", PROGRAM)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    _, database = record(folder)
    check(not os.path.exists(database), "it is followed without the rows")
    truth, database = record(folder, LD_PRELOAD=build(folder))
    wait_for_drain(database)
    equal(epochs_of(database), [[12, 12]], "batches of each epoch")
    equal([row["kind"] for row in rows(database, "SELECT kind FROM loader")], ["mylib"], "kind")
    for row in rows(database, "SELECT begin_ns, wait_ns FROM batch"):
        check(any(begin <= row["begin_ns"] and row["begin_ns"] + row["wait_ns"] <= end
                  for begin, end in truth), "no wait of the script's", row)
    finish()


main()
