# SPDX-License-Identifier: Apache-2.0
"""DLPROF_BATCH_FN: loaders that the user names, in modules and in the program itself.

Each program prints "begin end" of its own waits; the rows must be those, in epochs, and everything
else that a program prints must be what it prints without us.
"""
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test  # noqa: E402
from dlprof_test import (PYTHON, check, environment, equal, finish, least, need_shim,  # noqa
                         report, rows, run, say, scratch, spread, wait_for_drain)
from loops import DRIVER, epochs_of, split  # noqa: E402

WAIT_TOLERANCE_NS = 1_000_000
ATTEMPTS = 3

LOADERS = '''
import time

class Loader:                               # __next__, used again after its end
    def __init__(self, count=30):
        self.count, self.at = count, 0
    def __iter__(self):
        return self
    def __next__(self):
        return self.take()
    def take(self, *, scale=1):             # under any name, with arguments
        self.at += 1
        if self.at > self.count:
            self.at = 0
            raise StopIteration
        time.sleep(0.001 * scale * (self.at % 4))
        if self.at == 13:
            self.at += 1
            raise ValueError("bad sample 13")
        return self.at

class Slots:                                # has no room for an attribute
    __slots__ = ("at",)
    def __init__(self):
        self.at = 0
    def __iter__(self):
        return self
    def __next__(self):
        self.at += 1
        if self.at > 20:
            raise StopIteration
        return self.at

class Outer:
    class Sub(Loader):                      # the method is the base's
        pass

class Pages:                                # __iter__ is a generator
    def __iter__(self):
        for i in range(25):
            time.sleep(0.001 * (i % 3))
            yield i
    @classmethod
    def made(cls):
        return 5
    @property
    def lazy(self):
        return 6

class Reader(Loader):                       # has more to it than its batches
    def __len__(self):
        return self.count

class Shelf:                                # __iter__ makes an object of its own class
    def __iter__(self):
        return Reader(9)

class Itself(Reader):
    def __iter__(self):
        self.at = 0
        return self

class Mapped:                               # what cannot be changed
    def __iter__(self):
        return map(lambda i: time.sleep(0.001) or i, range(9))

def pages(count=25):
    try:
        for i in range(count):
            time.sleep(0.001 * (i % 3))
            got = yield i
            if got:
                print("sent", got)
    finally:
        print("closed after", i)

at = 0
def next_batch():
    global at
    at += 1
    if at % 11 == 0:
        raise StopIteration
    time.sleep(0.001)
    return at

async def later():
    return 1
'''

# name: (DLPROF_BATCH_FN, program, [batches of each epoch of each loader])
IN_MODULE = {
    "next": ("home:Loader.__next__", "l = home.Loader()\nfor _ in range(3): drain(l.__next__)",
             [[28, 28, 28]]),
    "any name": ("home:Loader.take",
                 "l = home.Loader(12)\nfor _ in range(2): drain(lambda: l.take(scale=2))",
                 [[12, 12]]),
    "made anew": ("home:Loader.__next__",
                  "for _ in range(3): drain(home.Loader(12).__next__)", [[12, 12, 12]]),
    "two": ("home:Loader.__next__",
            "a, b = home.Loader(10), home.Loader(10)\ndrain(lambda: (next(a), next(b)))",
            [[10], [10]]),
    "slots": ("home:Slots.__next__", "drain(home.Slots().__next__)", [[20]]),
    "inherited": ("home:Outer.Sub.__next__", "drain(home.Outer.Sub(9).__next__)", [[9]]),
    "function": ("home:next_batch", "for _ in range(3): drain(home.next_batch)", [[10, 10, 10]]),
    "generator": ("home:pages", """
drain(iter(home.pages()).__next__)
drain(home.pages(12).__next__)
drain(home.pages().__next__, 7)             # left half-way
g = home.pages(); next(g); g.send("word"); g.close(); print(next(g, "none"))
print(sum(1 for _ in home.pages(3)), list(zip(home.pages(2), home.pages(2))))
""", None),
    "half-way": ("home:pages", "for _ in range(4): drain(home.pages().__next__, 8)",
                 [[8, 8, 8, 8]]),
    "iter": ("home:Pages.__iter__",
             "p = home.Pages()\nfor _ in range(2): drain(iter(p).__next__)", [[25, 25]]),
    "object": ("home:Shelf.__iter__", """
shelf = home.Shelf()
drain(iter(shelf).__next__)
it, other = iter(shelf), home.Reader(3)
print(len(it), type(it), isinstance(it, home.Reader), list(other))
it.at = 4
drain(it.__next__)
drain(iter(shelf).__next__, 3); drain(iter(shelf).__next__)
a, b, c = [iter(shelf) for _ in range(3)]
drain(c.__next__); drain(b.__next__, 2)""", [[9, 5, 3, 9, 9, 2]]),
    "itself": ("home:Itself.__iter__", """
own = home.Itself(9)
print(iter(own) is own, len(iter(own)))
drain(iter(own).__next__); drain(iter(own).__next__, 4); drain(iter(own).__next__)""",
               [[9, 4, 9]]),
    "map": ("home:Mapped.__iter__", "m = home.Mapped()\nfor _ in range(2): drain(iter(m).__next__)",
            [[9, 9]]),
    "type": ("home:pages", """
import collections.abc, inspect, types
g = home.pages(6)
print(isinstance(g, types.GeneratorType), isinstance(g, collections.abc.Generator),
      inspect.getgeneratorstate(g), hasattr(g, "__len__"))
drain(g.__next__)""", [[6]]),
    # A forked child that trains, and what its parent left to it.
    "child": ("home:pages", """
import os
outer = home.pages(8)
child = os.fork()
if not child:
    mine = home.pages(9)
    drain(mine.__next__, 2)
    print(len(list(outer)))
    del outer
    others = [home.pages() for _ in range(3)]
    drain(mine.__next__)
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
drain(outer.__next__)""", [[9], [8]]),
}

# The same, but the class or function is the program's own.
IN_MAIN = {
    "class": ("__main__:Loader.__next__", "l = Loader(12)\nfor _ in range(2): drain(l.__next__)",
              [[12, 12]]),
    "nested": ("__main__:Outer.Sub.__next__", "drain(Outer.Sub(9).__next__)", [[9]]),
    "iter": ("__main__:Pages.__iter__", "p = Pages()\ndrain(iter(p).__next__)", [[25]]),
    # `def` raises no audit event: it is found by the first event after it, here that of open().
    "function": ("__main__:next_batch", "open(__file__).close()\n"
                 "for _ in range(2): drain(lambda: next_batch())", [[10, 10]]),
}

# What is no wrappable callable: (value, part of the note or of the list of missing points)
BAD = [("home", "DLPROF_BATCH_FN"), ("home:", "DLPROF_BATCH_FN"), (":take", "DLPROF_BATCH_FN"),
       ("home:a:b", "DLPROF_BATCH_FN"), ("home:Loader..take", "DLPROF_BATCH_FN"),
       ("home:1x", "DLPROF_BATCH_FN"), ("home:Loader." + "x" * 300, "DLPROF_BATCH_FN"),
       ("home:Loader.absent", "home:Loader.absent"), ("home:Absent.take", "home:Absent.take"),
       ("home:Pages.made", "home:Pages.made"), ("home:Pages.lazy", "home:Pages.lazy"),
       ("home:later", "home.later"), ("home:Loader", "home.Loader"),
       ("hoem:Loader.take", "hoem:Loader.take"), ("__main__:Loader.take", "__main__:Loader.take"),
       ("__main__:absent", "__main__.absent")]


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


MISSING = "SELECT value FROM meta WHERE key = 'patch_missing'"
_plain = {}  # the run without us, as long as it is of the same program


def record(name, python, argv, value, folder, **changes):
    database = os.path.join(scratch(), "run.db")
    if (python, argv, folder) != _plain.get("of") or "bad.py" not in argv[-1]:
        _plain["of"] = python, argv, folder
        _plain["done"] = run([python] + argv, env=environment(False, PYTHONPATH=folder), cwd=folder)
    plain = _plain["done"]
    done = run([python] + argv, cwd=folder,
               env=environment(DLPROF_OUT=database, DLPROF_BATCH_FN=value, PYTHONPATH=folder,
                               DLPROF_QUIET=1, **changes))
    truth, rest = split(done.out)
    equal((done.status, rest, done.err), (plain.status, split(plain.out)[1], plain.err), name,
          "status and output")
    wait_for_drain(database)
    check(os.path.exists(database), name, "no database")
    return truth, database


def compare(name, python, argv, value, expected, folder):
    best = {}
    for _ in range(ATTEMPTS):
        truth, database = record(name, python, argv, value, folder)
        if not os.path.exists(database):
            return
        if expected:
            # Of two processes, either may be read first.
            equal(sorted(epochs_of(database)), sorted(expected), name, "batches of each epoch")
        equal(rows(database, MISSING), [{"value": ""}], name, "what is not found")
        for loader in rows(database, "SELECT * FROM loader"):
            equal((loader["kind"], loader["workers"], loader["in_order"]),
                  ("batch_fn", None, None), name)
        if expected is None or len(expected) > 1:
            return
        found = rows(database, "SELECT begin_ns, wait_ns, load_ns, receive_ns FROM batch "
                     "ORDER BY begin_ns")
        waits = [end - begin - r["wait_ns"] for r, (begin, end) in zip(found, truth)]
        check(all(begin <= r["begin_ns"] and r["begin_ns"] + r["wait_ns"] <= end
                  for r, (begin, end) in zip(found, truth)), name, "waits within the script's")
        equal([(r["load_ns"], r["receive_ns"]) for r in found], [(None, None)] * len(truth),
              name, "what is not observed")
        say(name, "wait error, ms, median / 99 % / max:", spread(waits[1:], 1e6))
        # The first wait of the program begins the recording: its own stamps have that in them.
        if least(best, enumerate(waits[1:])) <= WAIT_TOLERANCE_NS or dlprof_test.failure_count():
            return
    check(False, name, "in each attempt a wait differs by", max(best.values()), "ns")


def check_bad(python, folder):
    program = write(folder, "bad.py", "import home\nl = home.Loader(12)\nprint(list(l))\n"
                    "print(home.Pages.made(), home.Pages().lazy, type(home.Loader))\n")
    for value, note in BAD:
        _, database = record("bad value " + value[:40], python, [program], value, folder,
                             DLPROF_ACTIVATE="always")
        said = rows(database, "SELECT text FROM note WHERE text LIKE '%BATCH_FN%' UNION ALL SELECT "
                    "value FROM meta WHERE key = 'patch_missing' AND value != ''")
        equal(len(said), 1, value[:40], "notes", said)
        check(said and note in said[0]["text"], value[:40], "note", said)
        equal(rows(database, "SELECT * FROM batch"), [], value[:40], "batches")


def check_all(python, short):
    folder = scratch()
    write(folder, "home.py", LOADERS)
    version = os.path.basename(os.path.dirname(os.path.dirname(python)))
    for name, (value, program, expected) in IN_MODULE.items():
        if short and name not in ("next", "generator", "half-way", "object", "type"):
            continue
        for how in ("import home", "import importlib; home = importlib.import_module('home')\n"
                    "import wave")[:1 if short or name != "next" else 2]:
            path = write(folder, "program.py", how + "\n" + DRIVER + program)
            compare("{} {}:".format(version, name), python, [path], value, expected, folder)
    for name, (value, program, expected) in IN_MAIN.items():
        if short and name != "class":
            continue
        path = write(folder, "own.py", LOADERS + DRIVER + program)
        for argv in ([path], ["-m", "own"])[:1 if short else 2]:
            compare("{} own {} {}:".format(version, name, argv[0][:2]), python, argv, value,
                    expected, folder)
    if not short:
        check_bad(python, folder)


def main():
    need_shim()
    check_all(PYTHON, short=False)
    root = os.environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    for version in ("3.8", "3.13", "3.14"):  # the oldest and the newest
        for python in glob.glob(os.path.join(root, "versions", version + ".*", "bin", "python3")):
            if subprocess.run([python, "-c", ""]).returncode == 0:
                check_all(python, short=True)
    finish()


main()
