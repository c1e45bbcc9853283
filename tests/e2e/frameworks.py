# SPDX-License-Identifier: Apache-2.0
"""Loaders other than PyTorch's, with no environment at all: each row of loaders.def.

usage: frameworks.py METRICS GRAPH, two libraries of tf_metrics.c. Each program prints "begin end" of its
own waits; the rows must be those, each batch once, whatever asks whatever inside, and everything
else that a program prints must be what it prints without us.
"""
import glob
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test  # noqa: E402
import fakes  # noqa: E402
from dlprof_test import (PYTHON, ROOT, check, databases, environment, equal, finish, least,  # noqa
                         need_shim, report, rows, run, say, scratch, spread, wait_for_drain)
from loops import DRIVER, epochs_of, split  # noqa: E402

WAIT_TOLERANCE_NS = 1_000_000
ATTEMPTS = 3

TF = "from tensorflow.python.data.ops.dataset_ops import Dataset\n"
DALI = """
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin import jax, mxnet, paddle, pytorch
from nvidia.dali.plugin.jax import clu, iterator
for Iterator in (pytorch.DALIGenericIterator, pytorch.DALIRaggedIterator,
                 iterator.DALIGenericIterator, clu.DALIGenericPeekableIterator,
                 mxnet.DALIGenericIterator, mxnet.DALIGluonIterator):
    it = Iterator([Pipeline(8), Pipeline(8)])
    for _ in range(2): drain(lambda: next(it)); it._pipes[1].at = 0
    kept = globals().setdefault("kept", []) + [it]
it = paddle.DALIGenericIterator([Pipeline(8)], False)
drain(it.next)
p = Pipeline(8)
for _ in range(2): drain(lambda: p.run())
"""
DALI_BY_HAND = """
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin import pytorch
def by_hand(ask):
    def take():
        pipe.schedule_run()
        ask()
        pipe.release_outputs()
    return take
for ask in "share_outputs", "outputs":
    pipe = Pipeline(8)
    for _ in range(2): drain(by_hand(getattr(pipe, ask)))
it = pytorch.DALIGenericIterator([Pipeline(5)])
it.drop_last(); it.drop_last()
drain(it.__next__)
import threading
server = threading.Thread(target=lambda: print(Pipeline(3).outputs()))
server.start(); server.join()
"""
GRAPH = """
import ctypes
metrics, graph = ctypes.CDLL({0!r}), ctypes.CDLL({1!r})
from tensorflow.python.data.ops import iterator_ops
def fit(data, number, count):               # a node of the graph asks, at the same time as we wait
    iterator = iter(data)
    for _ in range(count):
        begin = now()
        graph.graph_next(number, 2000, 64)
        print("WAIT", begin, now(), flush=True)
        time.sleep(0.001)
"""

COUNTED = """
class Counted(Dataset):
    def elements(self):
        for value in super().elements():
            if value % 2:                   # on this thread, or on one of TensorFlow's
                graph.get_next(2000, 8)
            else:
                graph.graph_next(3, 2000, 8)
            yield value
d = Counted(9)
drain(iter(d).__next__)
graph.graph_next(3, 0, -1)
print(metrics.metrics_calls())
"""

TOLD = GRAPH + """
from tensorflow.python.data.ops.multi_device_iterator_ops import OwnedMultiDeviceIterator
made = 0
def create():
    global made
    graph.iterator_made(made)
    made += 1
    return made - 1
iterator_ops.create = create
def ask(number, iterator, inner=-1):
    begin = now()
    graph.graph_ask(number, 2000, 64, iterator.resource, inner)
    print("WAIT", begin, now(), flush=True)
def done(count):
    for number in range(count): graph.graph_next(number, 0, -1)
    print(made, metrics.metrics_made(), metrics.metrics_calls(), graph.times_wrong())
"""

ELEMENTS = """
class Elements:
    def __iter__(self):
        for i in range(10):
            time.sleep(0.002)
            yield i
elements = Elements()
"""

# name: (kind, program, [batches of each epoch of each loader])
CASES = {
    "tf.data": ("tf.data", TF + "d, v = Dataset(14), Dataset(5)\nfor _ in range(2):\n"
                          " drain(d.as_numpy_iterator().__next__)\n drain(iter(v).next)",
                          [[14, 14], [5, 5]]),
    "tf.data, error": ("tf.data", TF + "d = Dataset(14, fails=7)\n"
                       "for _ in range(2): drain(iter(d).__next__)", [[8, 8]]),
    "tf.data, asked again": ("tf.data", TF + "d = Dataset(7)\nfor _ in range(2):\n it = iter(d)\n"
                             " drain(it.__next__); print(next(it, 'none'), next(it, 'none'))",
                             [[7, 7]]),
    "tf.data, two": ("tf.data", TF + "a, b = iter(Dataset(9)), iter(Dataset(9))\n"
                     "drain(lambda: (next(a), next(b)))", [[9], [9]]),
    "tf.data, a hundred": ("tf.data", TF + "its = [iter(Dataset(2)) for _ in range(100)]\n"
                           "drain(lambda: [next(it) for it in its])", [[2]] * 100),
    "tf.data, half-way": ("tf.data", TF + "d = Dataset(9)\n"
                          "for _ in range(3): drain(iter(d).__next__, 6)", [[6, 6, 6]]),
    "tf.data, subclass": ("tf.data", TF + """
from tensorflow.python.data.ops.iterator_ops import OwnedIterator
class Mine(OwnedIterator):
    def __next__(self):
        return super().__next__(), super().__next__
import inspect, pickle
print(len(inspect.signature(OwnedIterator.__next__).parameters) > 0, Mine.__mro__[1].__name__)
drain(Mine(Dataset(11)).__next__)""", [[11]]),
    "tf.data, traced": ("tf.data", TF + """
from tensorflow.python.eager import context
it = iter(Dataset(8))
context.eager = False; print(next(it), next(it)); context.eager = True
drain(it.__next__)""", [[8]]),
    "tf.data, replicas": ("tf.data", TF + """
from tensorflow.python.distribute.input_lib import DistributedIterator
d = Dataset(10)
kept = [DistributedIterator([iter(d), iter(d)]) for _ in range(2)]
for it in kept: drain(it.__next__)""", [[10, 10]]),
    "a graph's": ("tf.data", "from tensorflow.python.data.ops.iterator_ops import Iterator\n"
                  "print(Iterator('resource', initializer=3).resource)", []),
    "imported": (None, "from mxnet.io import io\nfrom nvidia.dali import pipeline\n"
                 "from keras import callbacks\n" + TF, []),
    "gluon": ("mxnet.gluon", """
from mxnet.gluon.data.dataloader import DataLoader, _MultiWorkerIter
for loader in DataLoader(12), DataLoader(7, num_workers=2):
    for _ in range(2): drain(iter(loader).__next__)
it = iter(loader); print(next(it), iter(it) is it)
drain(_MultiWorkerIter(9).next)
""", [[12, 12], [7, 7, 1], [9]]),
    "mxnet.io, servant": (None, """
from mxnet.io.io import NDArrayIter
import multiprocessing
worker = multiprocessing.get_context("fork").Process(target=list, args=(NDArrayIter(4),),
                                                     daemon=True)
worker.start(); worker.join(); print(worker.exitcode)""", []),
    "mxnet.io": ("mxnet.io", "from mxnet.io.io import NDArrayIter\nit = NDArrayIter(9)\n"
                 "for _ in range(2): drain(it.__next__); it.reset()", [[9, 9]]),
    "paddle": ("paddle.io", """
from paddle.io.reader import DataLoader
from paddle.io.dataloader.dataloader_iter import _DataLoaderIterMultiProcess
data = range(12)
kept = [DataLoader(data) for _ in range(2)]
for loader in DataLoader(data), DataLoader(data, 2), DataLoader(data, 2, True):
    kept.append(loader)
    for limit in 12, 5, 12: drain(iter(loader).__next__, limit + (limit == 12))
drain(loader().__next__)
a, b = iter(kept[0]), iter(kept[1])
drain(lambda: (next(a), next(b)))
drain(_DataLoaderIterMultiProcess(loader).__next__)
""", [[12, 5, 12]] * 2 + [[12, 5, 12, 12]] + [[12]] * 3),
    "DALI": ("DALI", DALI, [[8, 8]] * 6 + [[8], [8, 8]]),
    "DALI, by hand": ("DALI", DALI_BY_HAND, [[8, 8], [8, 8], [4]]),
    "grain": ("grain", """
from grain._src.python.data_loader import DataLoader
loader = DataLoader(40)
for _ in range(2): drain(iter(loader).__next__)
from grain._src.python.dataset.dataset import Batch, Prefetch, Source
drain(iter(Batch(Source(40), 4)).__next__)
drain(iter(Prefetch(Batch(Source(40), 4))).__next__)""", [[10, 10], [10], [10]]),
    "torchdata.nodes": ("torchdata.nodes", """
from torchdata.nodes.loader import Loader
loader = Loader(10)
for _ in range(2): drain(iter(loader).__next__)
it = iter(loader); print(it.has_next(), next(it))""", [[10, 10, 1]]),
    "monai": ("monai", ELEMENTS + """
from monai.data.thread_buffer import ThreadBuffer
for _ in range(2): drain(iter(ThreadBuffer(elements)).__next__)
it = iter(ThreadBuffer(elements)); print(next(it), it.__class__); it.close()""", [[10, 10, 1]]),
    "prefetch_generator": ("prefetch_generator", ELEMENTS + """
from prefetch_generator import BackgroundGenerator
import inspect
print(len(inspect.signature(BackgroundGenerator.run).parameters) > 0)
for _ in range(2): drain(BackgroundGenerator(elements).__next__)""", [[10, 10]]),
    "keras, jax": ("keras", """
from keras.src.backend.jax.trainer import JAXEpochIterator
def batches():
    for i in range(10):
        time.sleep(0.002)
        yield i
epochs = [iter(JAXEpochIterator(batches())._get_iterator()) for _ in range(2)]
for it in epochs: drain(it.__next__)""", [[10], [10]]),
    "keras, jax, tf.data, one batch ahead": ("tf.data", TF + """
from keras.src.backend.jax.trainer import JAXEpochIterator
it = iter(JAXEpochIterator(iter(Dataset(10)))._get_iterator())
drain(it.__next__)""", [[10]]),
    "fit": ("tf.data", TF + GRAPH + """
train, val = Dataset(1), Dataset(1)
for _ in range(2):
    fit(train, 0, 10)
    fit(val, 1, 3)
graph.graph_next(0, 0, -1); graph.graph_next(1, 0, -1)
print(metrics.metrics_calls(), metrics.metrics_bytes())""", [[10, 10], [3, 3]]),
    "fit, to the end": ("tf.data", TF + GRAPH + """
train = Dataset(1)
for _ in range(2):
    fit(train, 0, 6)
    graph.graph_next(0, 10, 0)              # no more
    graph.graph_next(0, 10, 0)
fit(train, 0, 2)
graph.graph_next(0, 0, -1)""", [[6, 6, 2]]),
    "fit, several steps at once": ("tf.data", TF + TOLD + """
train, val = Dataset(1), Dataset(1)
def fit(data, number, count):               # four nodes ask the same iterator, and leave it half-way
    iterator = iter(data)
    for step in range(count): ask(number + step % 4, iterator)
    return iterator
for _ in range(2):
    fit(train, 0, 12)
    fit(val, 4, 6)
done(8)""", [[12, 12], [6, 6]]),
    "fit, at the same place": ("tf.data", TF + TOLD + """
train = Dataset(1)
for _ in range(2):
    made = 0                                # the last one is gone
    iterator = iter(train)
    for step in range(6): ask(_, iterator)
done(2)""", [[6, 6]]),
    "many graphs": ("tf.data", TF + TOLD + """
iterators = [iter(Dataset(1)) for _ in range(28)]
for _ in range(6):
    for number, iterator in enumerate(iterators): ask(number, iterator)
done(28)""", [[6]] * 28),
    "one graph, two in turn": ("tf.data", TF + TOLD + """
a, b = iter(Dataset(1)), iter(Dataset(1))
for _ in range(6):
    ask(0, a); ask(0, b)
ask(0, a, b.resource)                       # which asks the other in turn
done(1)""", [[7], [7]]),
    "devices": ("tf.data", TF + TOLD + """
data = Dataset(1)
for epoch in range(2):
    many = OwnedMultiDeviceIterator(data, ["a", "b"])
    OwnedMultiDeviceIterator(components=many._device_iterators)
    one, two = many._device_iterators
    for _ in range(10):
        ask(0, one)
        graph.graph_ask(1, 100, 8, two.resource, -1)
        for _ in range(2):                  # begun on one thread, done on another
            graph.graph_ask(2, 100, 8, many.resource, -1)
            graph.graph_next(3, 100, 8)
done(4)""", [[10, 10]]),
    "eager, counted by TensorFlow too": ("tf.data", TF + GRAPH + COUNTED, [[9]]),
}

# DLPROF_BATCH_FN with them: (value, program, {kind: [batches of each epoch]})
NAMED = {
    "inside": ("home:read", TF + """
import home
class Reading(Dataset):
    def elements(self):
        while True:
            try:
                yield home.read(inner)
            except StopIteration:
                return
inner = iter(range(10))
drain(iter(Reading(10)).__next__)""", {"batch_fn": [[10]]}),
    "around": ("home:read", TF + "import home\nit = iter(Dataset(10))\n"
               "drain(lambda: home.read(it))", {"batch_fn": [[10]]}),
    "beside": ("home:read", TF + "import home\nit = iter(range(10))\n"
               "drain(lambda: home.read(it))\ndrain(iter(Dataset(7)).__next__)",
               {"batch_fn": [[10]], "tf.data": [[7]]}),
    "beside, counted": ("home:read", TF + "import home\n" + GRAPH + COUNTED + "it = iter(range(10))\n"
                        "drain(lambda: home.read(it))", {"tf.data": [[9]], "batch_fn": [[10]]}),
    "a row": ("tensorflow.python.data.ops.iterator_ops:OwnedIterator.__next__",
              TF + "drain(Dataset(7).as_numpy_iterator().__next__)", {"tf.data": [[7]]}),
}
# Children of a process whose other threads are at their epochs, and the generator that they drop.
FORKED = TF + GRAPH + """
import home, os, signal, warnings
from tensorflow.python.data.ops.dataset_ops import Dataset
pages = home.pages()
print(next(iter(Dataset(1))), next(pages))
iter(Dataset(1))
graph.graph_busy()
warnings.simplefilter("ignore")  # as of 3.12, that there are other threads
statuses = set()
for _ in range(60):
    child = os.fork()
    if not child:
        signal.alarm(10)
        del pages
        os._exit(0)
    statuses.add(os.waitpid(child, 0)[1])
    if statuses != {0}:
        break
graph.graph_idle()
print(statuses)
"""
# Each alarm raises once, somewhere in a __next__, and must come out of it.
ALARMS = TF + """
import itertools, signal
class Endless(Dataset):
    def elements(self):
        return itertools.count()
class Alarm(Exception):
    pass
raised = caught = lost = 0
def handler(*_):
    global raised
    raised += 1
    raise Alarm
signal.signal(signal.SIGALRM, handler)
it = iter(Endless(1))
next(it)
while caught + lost < 300:
    before = raised
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0001)
        while raised == before:
            next(it)
        lost += 1
    except Alarm:
        caught += 1
print("lost", lost)
"""
CROWD = TF + TOLD + """
iterators = [iter(Dataset(1)) for _ in range(200)]
for _ in range(2):
    for iterator in iterators: graph.graph_ask(0, 1, 8, iterator.resource, -1)
done(1)
"""
HOME = """
import time
def pages():
    yield 1
    yield 2
def read(iterator):
    time.sleep(0.001)
    return next(iterator)
"""

STEPS = """
from keras.callbacks import CallbackList
from tensorflow.python.keras.callbacks import CallbackList as Old
for callbacks in CallbackList(), Old():
    for epoch in range(2):
        for batch in range(30):
            callbacks.on_train_batch_begin(batch)
            time.sleep(0.002)
"""

STATEFUL = """
import torch
from torchdata.stateful_dataloader.stateful_dataloader import StatefulDataLoader
class Samples:
    def __len__(self):
        return 24
    def __getitem__(self, index):
        time.sleep(0.001)
        return index
def keep(samples):
    return samples
if __name__ == "__main__":
    for workers, start in (0, None), (2, "fork"), (1, "spawn"):
        loader = StatefulDataLoader(Samples(), batch_size=4, num_workers=workers, collate_fn=keep,
                                    multiprocessing_context=start)
        for _ in range(2 if start != "spawn" else 1): drain(iter(loader).__next__)
"""
# The first iterator is made before __iter__ is called; the second begins in the middle.
RESUMED = STATEFUL[:STATEFUL.index("if __name__")] + """
for workers in 2, 0:
    loader = StatefulDataLoader(Samples(), batch_size=4, num_workers=workers, collate_fn=keep)
    loader.state_dict()
    drain(iter(loader).__next__)
    loader.load_state_dict(2)
    drain(iter(loader).__next__)
"""


def record(name, python, folder, text, **changes):
    """The program's waits and its database, or None where it made none."""
    path, database = os.path.join(folder, "program.py"), os.path.join(scratch(), "run.db")
    for place, library in zip(("{0!r}", "{1!r}"), sys.argv[1:]):
        text = text.replace(place, repr(os.path.abspath(library)))
    with open(path, "w") as file:
        file.write(DRIVER + text)
    plain = run([python, path], env=environment(False, PYTHONPATH=folder), cwd=folder)
    done = run([python, path], cwd=folder,
               env=environment(DLPROF_OUT=database, DLPROF_QUIET=1, PYTHONPATH=folder, **changes))
    truth, rest = split(done.out)
    equal((done.status, rest, done.err), (plain.status, split(plain.out)[1], plain.err), name,
          "status and output")
    if not os.path.exists(database):
        return truth, None
    wait_for_drain(database)
    found = rows(database, "SELECT value FROM meta WHERE key = 'patch_found'")
    missing = rows(database, "SELECT value FROM meta WHERE key = 'patch_missing'")
    _found.update(found[0]["value"].split(","))
    equal([row["value"] for row in missing], [""], name, "missing points")
    return truth, database


_found = set()  # patch points, in all runs


def compare(name, python, folder, kind, text, expected):
    best = {}
    for _ in range(ATTEMPTS):
        truth, database = record(name, python, folder, text)
        if not kind:
            equal(database, None, name, "nothing was asked, and it was recorded")
            return
        if not check(database, name, "no database"):
            return
        equal(epochs_of(database), expected, name, "batches of each epoch")
        for loader in rows(database, "SELECT * FROM loader"):
            equal((loader["kind"], loader["workers"], loader["in_order"]), (kind, None, None), name)
        found = rows(database, "SELECT begin_ns, wait_ns, load_ns FROM batch ORDER BY begin_ns")
        equal([row["load_ns"] for row in found], [None] * len(found), name, "loads")
        # DALI's first batch was fetched before it was asked for; what is zipped is one to the
        # script.
        if len(found) != len(truth) or kind == "DALI":
            return
        waits = [end - begin - row["wait_ns"] for row, (begin, end) in
                 list(zip(found, truth))[1:]]
        least(best, enumerate(waits))
        errors = sorted(best.values())
        if "ahead" not in name:
            check(all(begin <= row["begin_ns"] and row["begin_ns"] + row["wait_ns"] <= end
                      for row, (begin, end) in zip(found, truth)), name, "waits within the script's")
        say(name, "wait error, ms, median / 99 % / max:", spread(waits, 1e6))
        # The first wait of the program begins the recording: its own stamps have that in them.
        if "ahead" in name or not waits or errors[len(waits) * 3 // 4] <= WAIT_TOLERANCE_NS or \
                dlprof_test.failure_count():
            return
    check(False, name, "a wait in four differs by", errors[len(errors) * 3 // 4], "ns or more")


def check_named(python, folder):
    for name, (value, text, expected) in NAMED.items():
        _, database = record(name, python, folder, text, DLPROF_BATCH_FN=value)
        kinds = {row["loader_id"]: row["kind"] for row in rows(database, "SELECT * FROM loader")}
        found = {}
        for loader, epochs in zip(sorted(kinds), epochs_of(database)):
            found.setdefault(kinds[loader], []).append(epochs)
        equal(found, expected, "DLPROF_BATCH_FN,", name)


def check_forked(python, folder):
    _, database = record("forked", python, folder, FORKED, DLPROF_BATCH_FN="home:pages")
    check(database and len(rows(database, "SELECT 1 FROM epoch")) > 100, "forked, epochs")


def check_alarms(python, folder):
    _, database = record("alarms", python, folder, ALARMS)
    check(database and rows(database, "SELECT 1 FROM batch LIMIT 1"), "alarms, no batch")


def check_crowd(python, folder):
    """More than there is room for: each batch is told, and that loaders were not known again."""
    _, database = record("crowd", python, folder, CROWD)
    equal(rows(database, "SELECT COUNT(*) AS count FROM batch")[0]["count"], 400, "crowd, batches")
    check("so many iterators of TensorFlow's" in report("-v", database).out, "crowd, what is said")


def check_steps(python, folder):
    """Keras' steps, where nothing is known of what it waits for: no verdict, and it is said why."""
    _, database = record("steps", python, folder, STEPS)
    found = rows(database, "SELECT step_ns, wait_ns FROM batch")
    equal([row["wait_ns"] for row in found], [None] * len(found), "waits of steps")
    equal(len(found), 4 * 29, "steps")
    check(all(row["step_ns"] >= 2_000_000 for row in found), "steps", found[:5])
    equal([row["kind"] for row in rows(database, "SELECT kind FROM loader")], ["keras"], "kind")
    said = json.loads(report(database, "--json").out)
    equal((said["verdict"], said["stall"]["ratio"]), ("incomplete", None), "steps, verdict")
    check("eras" in report("-v", database).out, "steps, what is said")


def check_stateful(folder):
    """torchdata's own DataLoader, by the iterators and the worker of its own."""
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        say("SKIP torchdata:", PYTHON, "has no torch")
        return
    truth, database = record("torchdata", PYTHON, folder, STATEFUL)
    equal(epochs_of(database), [[6, 6], [6, 6], [6]], "torchdata, batches")
    equal([(row["kind"], row["workers"]) for row in rows(database, "SELECT * FROM loader")],
          [("torchdata.StatefulDataLoader", workers) for workers in (0, 2, 1)], "torchdata")
    loads = rows(database, "SELECT load_ns, collate_ns, samples, worker_id FROM load")
    equal(len(loads), 30, "torchdata, loads")
    check(all(row["load_ns"] >= 4_000_000 and row["samples"] == 4 for row in loads), "loads", loads)
    equal(len({row["worker_id"] for row in loads}), 3, "torchdata, workers")
    waited = sum(row["wait_ns"] for row in rows(database, "SELECT wait_ns FROM batch"))
    check(waited <= sum(end - begin for begin, end in truth), "torchdata, waits", waited)
    truth, database = record("torchdata, resumed", PYTHON, folder, RESUMED)
    equal(databases(os.path.dirname(database)), [database], "torchdata, resumed, runs")
    equal(epochs_of(database), [[6, 4], [6, 4]], "torchdata, resumed, batches")
    equal(rows(database, "SELECT 1 FROM batch WHERE load_ns IS NULL OR worker_id >= 2"), [],
          "torchdata, resumed, loads")


def check_rows():
    """No row is without a case."""
    with open(os.path.join(ROOT, "shim", "python", "loaders.def")) as file:
        text = file.read()
    text = text.replace("TF_ITERATORS", '"tensorflow.python.data.ops.iterator_ops"')
    points = {"{}:{}.{}".format(*row) for row in
              re.findall(r'^LOADER\(\w+, "[^"]+", "([^"]+)", "([^"]+)", "([^"]+)"', text, re.M)}
    check(len(points) >= 20, "rows of loaders.def", points)
    equal(points - _found, set(), "rows that no case has patched")


def main():
    need_shim()
    folder = scratch()
    fakes.write(folder)
    with open(os.path.join(folder, "home.py"), "w") as file:
        file.write(HOME)
    for name, (kind, text, expected) in CASES.items():
        compare(name, PYTHON, folder, kind, text, expected)
    check_named(PYTHON, folder)
    check_forked(PYTHON, folder)
    check_alarms(PYTHON, folder)
    check_steps(PYTHON, folder)
    check_crowd(PYTHON, folder)
    check_stateful(folder)
    check_rows()
    root = os.environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    for version in ("3.8", "3.13", "3.14"):  # the oldest and the newest
        for python in glob.glob(os.path.join(root, "versions", version + ".*", "bin", "python3")):
            if subprocess.run([python, "-c", ""]).returncode == 0:
                for name in ("tf.data", "gluon"):
                    compare(version + " " + name, python, folder, *CASES[name])
    finish()


main()
