# SPDX-License-Identifier: Apache-2.0
"""How many small faults the tests find: one operator is changed at random, and the tests are run.

usage: mutants.py [--seed 1] [--count 200] [--folders analysis,store,drain] [--suites unit,store,cli]
                  [-n JOBS] [--only 3,17] [--work FOLDER]

Sources and build are a copy in FOLDER (build/mutants), which later calls use again. The same seed, count
and folders plant the same faults, as long as the sources are the same; --only runs some of them. A fault
that does not compile counts as none, and another one takes its place. Ends with a list of the survivors:
each is worth a test, or changes nothing that can be seen.
"""
import argparse
import filecmp
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
ROOMS = os.path.join("analyzer", "")
COMPILE_S, TEST_S = 900, 3600

# What is changed into what. Operators of two operands have blanks around them, which no pointer has.
CHANGES = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
           " && ": " || ", " || ": " && ", " + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ",
           " += ": " -= ", " -= ": " += ", "fmin(": "fmax(", "fmax(": "fmin(", "true;": "false;",
           "false;": "true;", "(!": "("}
OPERATOR = re.compile("|".join(re.escape(text) for text in sorted(CHANGES, key=len, reverse=True)))
# Where no operator is: comments, texts, characters, lines of the preprocessor.
NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^\s*#(?:[^\n]*\\\n)*[^\n]*",
                     re.S | re.M)


def blank(found):
    return re.sub(r"[^\n]", "\0", found.group())


def places(folders):
    """Every (file, where in it, operator) of the folders, in order."""
    found = []
    for folder in folders:
        top = os.path.join(ROOT, ROOMS, folder)
        if not os.path.isdir(top):
            sys.exit("mutants.py: there is no {}{}".format(ROOMS, folder))
        for home, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.join(home, name)
                with open(path, encoding="utf-8") as file:
                    code = NO_CODE.sub(blank, file.read())
                found += [(os.path.relpath(path, ROOT), at.start(), at.group()) for at in OPERATOR.finditer(code)]
    return found


def copy_sources(work):
    """What git knows or would add; a file that is the same keeps its time, so that little is built anew."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE).stdout.decode()
    names = {name for name in listed.split("\0") if name and os.path.isfile(os.path.join(ROOT, name))}
    sources = os.path.join(work, "sources")
    for home, _, files in os.walk(sources):
        for name in files:
            path = os.path.join(home, name)
            if os.path.relpath(path, sources) not in names:
                os.unlink(path)
    for name in names:
        source, target = os.path.join(ROOT, name), os.path.join(sources, name)
        if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    return sources


class Build:
    def __init__(self, work, suites, jobs):
        self.sources, self.folder = copy_sources(work), os.path.join(work, "build")
        self.suites, self.jobs = suites, jobs
        if not os.path.exists(os.path.join(self.folder, "build.ninja")):
            subprocess.run(["meson", "setup", self.folder, self.sources], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["ninja", "-C", self.folder, "build.ninja"], check=True, stdout=subprocess.DEVNULL)
        self.tests, self.sound = self.needed(), None
        self.targets = sorted({os.path.relpath(name, self.folder) for names in self.tests.values()
                               for name in names})

    def introspect(self, what):
        return json.loads(subprocess.run(["meson", "introspect", "--" + what, self.folder], check=True,
                                         stdout=subprocess.PIPE).stdout)

    def needed(self):
        """The suites' tests, each with the programs that it runs or reads: {name: files}. A script does not list what
        it runs of that which is installed."""
        targets = self.introspect("targets")
        files = {target["id"]: target["filename"] for target in targets}
        installed = [name for target in targets if target["installed"] for name in target["filename"]]
        return {test["name"]: [name for id_ in test["depends"] for name in files.get(id_, [])] +
                ([] if test["cmd"][0].startswith(self.folder) else installed)
                for test in self.introspect("tests")
                if any(suite.split(":")[-1] in self.suites for suite in test["suite"])}

    def state(self):
        """{file: hash} of what the tests run."""
        found = {}
        for name in {name for names in self.tests.values() for name in names}:
            with open(name, "rb") as file:
                found[name] = hashlib.sha256(file.read()).digest()
        return found

    def touched(self):
        """Tests that may behave otherwise than without a fault: one of their programs is another."""
        now = self.state()
        return [name for name, files in self.tests.items() if any(now[file] != self.sound[file] for file in files)]

    def make(self):
        """Whether it compiles."""
        return subprocess.run(["ninja", "-C", self.folder, "-j", str(self.jobs)] + self.targets,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=COMPILE_S).returncode == 0

    def test(self):
        """The name of a test that failed; None: all passed."""
        names = self.touched() if self.sound else list(self.tests)
        if not names:
            return None
        done = subprocess.run(["meson", "test", "-C", self.folder, "--no-rebuild", "--maxfail", "1",
                               "--num-processes", str(self.jobs)] +
                              [word for suite in self.suites for word in ("--suite", suite)] + names,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TEST_S)
        said = done.stdout.decode(errors="replace")
        failed = re.search(r"^\s*\d+/\d+ +(.*?) +(?:FAIL|TIMEOUT|ERROR)", said, re.M)
        if done.returncode and not failed:
            sys.exit("mutants.py: the tests were not run: " + said[-1000:])
        return failed and failed.group(1)


def plant(build, place):
    """The fault in the copy; returns what takes it back, and how it looks."""
    name, at, old = place
    path = os.path.join(build.sources, name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    changed = text[:at] + CHANGES[old] + text[at + len(old):]
    with open(path, "w", encoding="utf-8") as file:
        file.write(changed)
    line = text.count("\n", 0, at) + 1
    look = "{}:{}: {}   [{} -> {}]".format(name, line, text.split("\n")[line - 1].strip(), old.strip(),
                                           CHANGES[old].strip() or "nothing")

    def undo():
        with open(path, "w", encoding="utf-8") as back:
            back.write(text)
    return undo, look


def judge(build, place):
    """("found" | "survived" | "no code", by which test, how it looks)"""
    undo, look = plant(build, place)
    try:
        if not build.make():
            return "no code", None, look
        by = build.test()
        return ("found" if by else "survived"), by, look
    finally:
        undo()


def read_arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--folders", default="analysis,store,drain")
    parser.add_argument("--suites", default="unit,store,cli")
    parser.add_argument("-n", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "mutants"))
    return parser.parse_args()


def main():
    options = read_arguments()
    drawn = places(options.folders.split(","))
    random.Random(options.seed).shuffle(drawn)
    only = {int(number) for number in options.only.split(",") if number}
    build = Build(os.path.abspath(options.work), options.suites.split(","), options.n)
    if not build.make():
        sys.exit("mutants.py: it does not build as it is")
    failed = build.test()
    if failed:
        sys.exit("mutants.py: {} fails without any fault".format(failed))
    build.sound = build.state()
    print("{} operators, {} targets".format(len(drawn), len(build.targets)), flush=True)
    survivors, found = [], 0
    for number, place in enumerate(drawn, 1):
        if found + len(survivors) == options.count:
            break
        if only and number not in only:
            continue
        begin = time.monotonic()
        how, by, look = judge(build, place)
        if how == "no code":
            continue
        found += how == "found"
        survivors += [(number, look)] if how == "survived" else []
        print("{:4} {:8} {:4.0f} s  {}{}".format(number, how, time.monotonic() - begin, look,
                                               "   by " + by if by else ""), flush=True)
    tried = found + len(survivors)
    print("\n{} of {} found ({:.0f} %). Survivors:".format(found, tried, 100 * found / max(tried, 1)))
    for one in survivors:
        print("{:4} {}".format(*one))


if __name__ == "__main__":
    main()
