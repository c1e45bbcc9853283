# SPDX-License-Identifier: Apache-2.0
"""Threads that stand still in stacks of every shape, and one that computes; says where each is.

Prints, as JSON, the shape, thread number and stack of each by what the interpreter says of itself,
and the fork of this process; then waits for "spin" and "end". Runs as `python -c`, so needs no file.
"""
import functools
import json
import os
import sys
import threading
import time

stop = time.sleep
SHAPES = []


def shape(function):
    SHAPES.append(function)
    return function


@shape
def generator():
    def inner(n):
        for i in range(n):
            yield i
            if i == 2:
                stop(1000)
    return list(x for x in inner(5))


class Outer:
    class Inner:
        def method(self, *arguments):
            return self.other(
                1,
                *[2,
                  3])

        @staticmethod
        def helper(seconds):
            stop(
                seconds)

        def other(self, a,
                  b=2, c=3):
            return (a +
                    b +
                    self.helper(
                        1000))


@shape
def method():
    return Outer().Inner().method()


@shape
def comprehension():
    return {x: [stop(1000) for _ in range(3)]
            for x in range(2)}


@shape
def class_body():
    class Body:
        first = 1
        second = stop(1000)
    return Body


@shape
def one_line(): return (lambda: stop(1000))()


@shape
def through_c():
    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return functools.reduce(lambda a, b: stop(1000), [1, 2])
    return sorted(map(Key, [3, 1, 2]))


@shape
def coroutine():
    async def last():
        stop(1000)

    async def first():
        async def middle():
            await last()
        await middle()
    first().send(None)


@shape
def handlers():
    class Context:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            try:
                raise ValueError
            except ValueError:
                stop(1000)
    with Context():
        try:
            1 // 0
        finally:
            pass


@shape
def recursion():
    def down(n):
        if n:
            return down(n - 1)
        return stop(1000)
    return down(50)


@shape
def deep():
    def down(n):
        return down(n - 1) if n else stop(1000)
    return down(200)


def compiled(name, path, lines):
    """A function of source that lies in no file."""
    scope = {"stop": stop}
    exec(compile("\n".join(lines), path, "exec"), scope)
    return scope[name]


@shape
def latin1():
    compiled("gr\xf6\xdfe", "/keine/gr\xf6\xdfe.py", ["def gr\xf6\xdfe():", "    stop(1000)"])()


@shape
def two_bytes():
    compiled("\u6570\u636e", "/\u6ca1\u6709/\u6570\u636e.py",
             ["def \u6570\u636e():", "    a = 1", "    stop(1000)"])()


@shape
def four_bytes():
    compiled("\U00020000", "/none/\U0001f600 \"\\.py", ["def \U00020000():", "    stop(1000)"])()


@shape
def far_down():
    compiled("far", "/far.py", [""] * 100000 + ["def far():"] + ["    a = 1", ""] * 3000 +
             [""] * 70000 + ["    stop(", *([""] * 300), "    1000)"])()


@shape
def many_names():
    compiled("many", "/many.py", ["def many():"] + ["    a{0} = {0} + 1".format(i)
                                                    for i in range(3000)] + ["    stop(1000)"])()


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def stack_of(frame):
    found = []
    while frame:
        found.append([frame.f_code.co_filename, name_of(frame.f_code), frame.f_lineno])
        frame = frame.f_back
    return found


def begin():
    threads = []
    for function in SHAPES:
        number = []

        def run(function=function, number=number):
            number.append(threading.get_native_id())
            function()
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        threads.append((function.__name__, number, thread))
    return threads


def report(threads):
    """Where all are, once none of them moves any more."""
    before = None
    while True:
        frames = sys._current_frames()
        now = [[name, number[0], stack_of(frames[thread.ident])] for name, number, thread in threads]
        if now == before and all(stack[0][1] != "wait" for _, _, stack in now):
            return now
        before = now
        stop(0.3)


def fork():
    """A child that stands still below the frames that it inherits."""
    pid = os.fork()
    if pid:
        return pid
    while True:
        stop(1000)


def spin():
    while True: sum(range(2000))


def main():
    child = fork()
    threads = begin()
    print(json.dumps({"threads": report(threads), "child": child, "fork_line": fork.__code__.co_firstlineno}),
          flush=True)
    for line in sys.stdin:
        if line.strip() != "spin":
            break
        thread = threading.Thread(target=spin, daemon=True)
        thread.start()
        print(json.dumps({"tid": thread.native_id}), flush=True)
    os.kill(child, 9)
    os.waitpid(child, 0)
    os._exit(0)


main()
