# SPDX-License-Identifier: Apache-2.0
"""What is put around functions and methods of Python's looks like them: every one that a process
has, after importing all the modules that are looked for."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import fakes
from dlprof_test import (PYTHON, ROOT, check, environment, equal, finish, need_shim,  # noqa: E402
                         need_torch, run, scratch)

PROGRAM = r"""
import copy, functools, gc, importlib, inspect, io, pickle, sys, threading, types, weakref
import queue, concurrent.futures
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception:
        pass
from torch.utils.data import DataLoader
# Queues and futures are left alone until another thread asks a loader.
asking = threading.Thread(target=lambda: list(DataLoader(range(4))))
asking.start()
asking.join()

def found(wrapper):
    owner = sys.modules[wrapper.__module__]
    for name in wrapper.__qualname__.split("."):
        owner = getattr(owner, name)
    return owner

def look(function):
    seen = {}
    for name in ("__module__", "__name__", "__qualname__", "__doc__", "__defaults__",
                 "__kwdefaults__", "__code__", "__annotations__", "__text_signature__"):
        seen[name] = getattr(function, name, "none")
    for ask in (inspect.signature, inspect.getsource, inspect.isroutine, callable, repr):
        try:
            seen[ask.__name__] = ask(function)
        except (TypeError, ValueError, OSError) as error:
            seen[ask.__name__] = type(error)
    return seen

class Thing:
    pass

count = 0
for wrapper in gc.get_objects():
    if type(wrapper).__name__ != "function" or isinstance(wrapper, types.FunctionType):
        continue
    count += 1
    original, thing, wrong = wrapper.__wrapped__, Thing(), []
    seen, expected = look(wrapper), look(original)
    wrong += [(key, seen[key], expected[key]) for key in seen if seen[key] != expected[key]]
    if found(wrapper) is wrapper:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            if pickle.loads(pickle.dumps(wrapper, protocol)) is not wrapper:
                wrong.append(("pickle", protocol))
        if pickle._loads(pickle._dumps(wrapper)) is not wrapper:
            wrong.append(("pickle", "Python"))
    elif found(wrapper) is not original:  # it is put in only while a sample is loaded
        wrong.append(("found", found(wrapper)))
    if copy.copy(wrapper) is not wrapper or copy.deepcopy(wrapper) is not wrapper:
        wrong.append("copy")
    bound = wrapper.__get__(thing, Thing)
    if (bound.__self__, bound.__func__, type(bound)) != (thing, wrapper, types.MethodType):
        wrong.append(("bound", bound))
    if wrapper.__get__(None, Thing) is not wrapper or weakref.ref(wrapper)() is not wrapper:
        wrong.append("of its class")
    try:
        if inspect.signature(bound) != inspect.signature(types.MethodType(original, thing)):
            wrong.append("signature of the bound method")
    except ValueError:
        pass
    if hasattr(wrapper, "not_there") or {wrapper: 1}[wrapper] != 1 or wrapper == original:
        wrong.append("attributes")
    print(wrapper.__module__, wrapper.__qualname__, wrong or "as it was")
    wrapper.kept = 7
    assert wrapper.kept == 7
    try:
        type(wrapper)()()
        print("called")
    except TypeError:
        pass
print(pickle.dumps(queue.Queue().get.__func__) and type(queue.Queue().get))
"""

# Of those that every test machine has.
EXPECTED = ["torch.serialization save", "torch.autograd backward", "queue Queue.get",
            "concurrent.futures._base Future.result", "torch.utils.data.dataloader DataLoader.__iter__",
            "torch.utils.data._utils.worker _worker_loop", "PIL.ImageFile ImageFile.load"]


def modules():
    names = []
    for table in ("loaders/loaders.def", "sample/boundary.def", "sample/steps.def",
                  "torch/training.def"):
        with open(os.path.join(ROOT, "shim/python", table)) as file:
            for line in file:
                row = re.match(r'[A-Z]+\(\w+, (?:"[^"]*", )?"([a-zA-Z_0-9.]+)"', line)
                names += re.findall(r'"([a-zA-Z_0-9.]*[a-z])"', line)[:2] if row else []
    return names


def main():
    need_torch()
    need_shim()
    folder, packages = scratch(), scratch()
    fakes.write(packages)
    done = run([PYTHON, "-W", "ignore", "-c", PROGRAM] + modules(), cwd=folder,
               env=environment(DLPROF_ACTIVATE="always", DLPROF_OUT=os.path.join(folder, "run.db"),
                               DLPROF_QUIET=1, PYTHONPATH=packages))
    equal(done.status, 0, "every wrapper", done.err[-3000:])
    lines = done.out.splitlines()
    for line in lines[:-1]:
        check(line.endswith(" as it was"), line)
    for name in EXPECTED:
        check(any(line.startswith(name + " ") for line in lines), name, "is wrapped", lines)
    equal(lines[-1], "<class 'method'>", "a method of a queue")
    finish()


main()
