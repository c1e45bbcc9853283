# SPDX-License-Identifier: Apache-2.0
"""What is put around functions and methods of Python's looks like them: every one that a process
has, after importing all the modules that are looked for. They keep nothing alive that Python would
collect, in any CPython that is installed."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import fakes  # noqa: E402
from interpreter import find  # noqa: E402
from dlprof_test import (PYTHON, ROOT, check, environment, equal, finish, need_shim,  # noqa: E402
                         need_torch, run, say, scratch)

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
    for name in ("__module__", "__name__", "__qualname__", "__doc__", "__defaults__", "__class__",
                 "__kwdefaults__", "__code__", "__annotations__", "__text_signature__"):
        seen[name] = getattr(function, name, "none")
    for ask in (inspect.signature, inspect.getsource, inspect.getfile, inspect.getsourcefile,
                inspect.isfunction, inspect.isbuiltin, inspect.isroutine, callable, repr):
        try:
            seen[ask.__name__] = ask(function)
        except (TypeError, ValueError, OSError) as error:
            seen[ask.__name__] = type(error)
    return seen

class Thing:
    pass

count = 0
for wrapper in gc.get_objects():
    if type(wrapper).__name__ != "function" or type(wrapper) is types.FunctionType:
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
    elif pickle.loads(pickle.dumps(wrapper)) is not original:
        wrong.append("pickle of the original")
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
    if isinstance(original, types.FunctionType):
        kept, wrapper.__defaults__ = original.__defaults__, (1, 2)
        if original.__defaults__ != (1, 2) or "__defaults__" in wrapper.__dict__:
            wrong.append("new defaults")
        wrapper.__defaults__ = kept
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
            "torch.utils.data._utils.worker _worker_loop", "PIL.ImageFile ImageFile.load",
            "builtins len"]  # the method that SOUND has


def modules():
    names = []
    for table in ("loaders/loaders.def", "sample/boundary.def", "sample/steps.def",
                  "torch/training.def"):
        with open(os.path.join(ROOT, "shim/python", table)) as file:
            for line in file:
                row = re.match(r'[A-Z]+\(\w+, (?:"[^"]*", )?"([a-zA-Z_0-9.]+)"', line)
                names += re.findall(r'"([a-zA-Z_0-9.]*[a-z])"', line)[:2] if row else []
    return names


# Its file is written when Python ends, if nothing keeps the globals alive.
FILE = r"""
import sys
log = open(sys.argv[1], "w")
def load():
    return 1
class Loader:
    count = 0
    def __next__(self):
        self.count += 1
        if self.count > 3:
            raise StopIteration
        return load()
    def __iter__(self):
        return self
open(__file__).close()
load()
print(sum(Loader()), type(load), type(Loader.__next__), type(Loader.__iter__))
log.write("trained")
"""

# Each iterator has a class of its own, whose __next__ is wrapped.
MANY = r"""
import gc, weakref
class Loader:
    def __iter__(self):
        class Reader:
            count = 0
            def __next__(self):
                self.count += 1
                if self.count > 2:
                    raise StopIteration
                return self.count
            def __iter__(self):
                return self
        Reader.itself = Reader
        return Reader()
alive, kinds = [], set()
for i in range(1000):
    reader = iter(Loader())
    wrapper = type(reader).__next__
    alive += [weakref.ref(wrapper), weakref.ref(type(reader))]
    kinds.add(type(wrapper))
    assert list(reader) == [1, 2]
    if i % 3 == 0:
        wrapper.itself = wrapper
    if i % 7 == 0:
        wrapper.reader = reader
        del type(reader).itself
    if i % 11 == 0:
        type(wrapper)()
    if i % 97 == 0:
        gc.collect()
reader = wrapper = None
gc.collect()
print(sum(reference() is not None for reference in alive), len(kinds), *kinds)
"""

MODULE = r"""
from operator import add
class Base:
    def __next__(self):
        return 7
class Sub(Base):
    pass
"""

# As pybind11 makes methods: of a class, it is asked for as a built-in function.
SOUND = r"""
import ctypes
make = ctypes.pythonapi.PyInstanceMethod_New
make.restype, make.argtypes = ctypes.py_object, [ctypes.py_object]
class SoundFile:
    read = make(len)
"""

# A built-in function does not become a method, and an inherited one is found by its base's name.
USED = r"""
import copy, functools, pickle
import module
open(__file__).close()
class Backend:
    add = module.add
print(Backend().add(1, 2), Backend.add(1, 2), module.Sub().__next__(), next(module.Sub()))
found = pickle.loads(pickle.dumps(module.Sub.__next__))
print(found is module.Base.__next__, copy.copy(module.Sub.__next__) is module.Sub.__next__)
print(type(module.add) is type(len), type(module.Sub.__next__) is type(functools.wraps))
"""

# What a fetcher asks stands for the dataset. Its last line says whether it is another object.
STANDS = r"""
import copy, pickle
from torch.utils.data import DataLoader
class Data:
    extra = 7
    def __len__(self):
        return 4
    def __getitem__(self, at):
        return [3, 4, 5, 6][at]
class Many(Data):
    def __getitems__(self, at):
        return [self[each] for each in at]
data = [Data(), Many()]
iterators = [iter(DataLoader(each, batch_size=2)) for each in data]
for iterator in iterators:
    batch = next(iterator)
    found = iterator._dataset_fetcher.dataset
    print(batch, found.__class__, list(found), found[1], len(found), found.extra, next(iterator))
    for name in ("__getitems__", "__getattr__", "__iter__", "__add__", "no_such"):
        print(name, hasattr(found, name), name in dir(found))
    print(copy.copy(found).extra, pickle.loads(pickle.dumps(found)).__class__)
    found.extra = 9
    print(found.extra)
    for ask in (lambda: found.no_such, lambda: found["x"], lambda: found[7]):
        try:
            ask()
        except Exception as error:
            print(repr(error))
print([each.extra for each in data], Data.extra)
more = iter(DataLoader(Many(), batch_size=2))
next(more)
print(type(more._dataset_fetcher.dataset) is type(iterators[1]._dataset_fetcher.dataset))
print([type(each._dataset_fetcher.dataset) is not type(data) for each, data in zip(iterators, data)])
"""

# The signal comes while our own Python code is run.
SIGNAL = r"""
import os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
try:
    import torch.optim.optimizer
    open(__file__).close()
    for i in range(1000):
        pass
    print("went on")
except KeyboardInterrupt:
    print("interrupted")
except SystemExit as error:
    print("ended with", error)
"""

OPTIMIZER = r"""
import os, signal
def register_optimizer_step_post_hook(hook):
    os.kill(os.getpid(), signal.{})
    for i in range(1000):
        pass
    print("not interrupted")
"""


# A compiled function calls one with defaults, as wrapper and as method, in a single graph.
COMPILED = r"""
import torch, module
open(__file__).close()
def both(number):
    return module.load(number) + module.Thing().read(number)
print(torch.compile(both, backend="eager", fullgraph=True)(torch.ones(1)).item())
print(torch.fx.symbolic_trace(both).code.count("+"), torch.jit.script(module.load)(torch.ones(1)).item())
"""

COMPILED_MODULE = r"""
from torch import Tensor
def load(number: Tensor, more: int = 2):
    return number + more
class Thing:
    def read(self, number, more=3):
        return number + more
"""


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


def output(python, folder, text, *arguments, **changes):
    done = run([python, write(folder, "program.py", text)] + list(arguments), cwd=folder,
               env=environment(DLPROF_ACTIVATE="always", DLPROF_OUT=os.path.join(folder, "run.db"),
                               DLPROF_QUIET=1, PYTHONPATH=folder, **changes))
    equal((done.status, done.err), (0, ""), python, changes)
    return done.out


def check_lives(python):
    folder = scratch()
    log = os.path.join(folder, "log")
    for name in ("load", "Loader.__next__", "Loader.__iter__"):
        out = output(python, folder, FILE, log, DLPROF_BATCH_FN="__main__:" + name)
        check(out.startswith("3 <"), python, name, out)
        with open(log) as file:
            equal(file.read(), "trained", python, name, "the file of a global")
    out = output(python, folder, MANY, DLPROF_BATCH_FN="__main__:Loader.__iter__",
                 PYTHONMALLOC="debug")
    equal(out, "0 1 <class 'function'>\n", python, "wrappers and classes that are still there")


def check_use():
    folder = scratch()
    write(folder, "module.py", MODULE)
    equal(output(PYTHON, folder, USED, DLPROF_BATCH_FN="module:add").splitlines(),
          ["3 3 7 7", "True True", "False True"], "a built-in function")
    equal(output(PYTHON, folder, USED, DLPROF_BATCH_FN="module:Sub.__next__").splitlines(),
          ["3 3 7 7", "True True", "True False"], "an inherited method")
    # Python code, in which a signal handler could raise, is not needed to make a wrapper.
    out = output(PYTHON, folder, USED.replace("import module", "functools.update_wrapper = 0\n"
                                              "import module"), DLPROF_BATCH_FN="module:add")
    check(out.endswith("False True\n"), "made without Python code", out)


def check_stands():
    bare, ours = [run([PYTHON, "-W", "ignore", "-c", STANDS], cwd=folder, env=environment(
        preload, DLPROF_OUT=os.path.join(folder, "run.db"), DLPROF_QUIET=1))
        for preload, folder in ((False, scratch()), (True, scratch()))]
    equal((bare.status, ours.status, ours.err), (0, 0, ""), "stand-ins", bare.err)
    bare, ours = bare.out.splitlines(), ours.out.splitlines()
    equal(ours[:-1], bare[:-1], "what stands for a dataset is as the dataset")
    equal((bare[-1], ours[-1]), ("[False, False]", "[True, True]"), "something stands for it")


def check_compiled():
    """torch.compile, torch.fx and torch.jit.script take a wrapper for the function."""
    python = os.path.join(os.environ.get("TEST_VENV", "/nonexistent"), "bin", "python")
    if not os.path.exists(python):
        say("no TEST_VENV, whose torch.compile would be tried")
        return
    folder = scratch()
    write(folder, "module.py", COMPILED_MODULE)
    for name in ("load", "Thing.read"):
        equal(output(python, folder, COMPILED, DLPROF_BATCH_FN="module:" + name,
                     PYTHONWARNINGS="ignore"), "7.0\n3 3.0\n", name)


def check_signals():
    folder = scratch()
    write(folder, "torch/__init__.py", "")
    write(folder, "torch/optim/__init__.py", "")
    for name, expected in (("SIGINT", "interrupted"), ("SIGTERM", "ended with 7")):
        write(folder, "torch/optim/optimizer.py", OPTIMIZER.format(name))
        equal(output(PYTHON, folder, SIGNAL), expected + "\n", name)


def main():
    need_shim()
    for version in ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"):
        for python in find(version):
            check_lives(python)
    check_use()
    check_signals()
    check_compiled()
    need_torch()
    check_stands()
    folder, packages = scratch(), scratch()
    fakes.write(packages)
    write(packages, "soundfile.py", SOUND)
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
