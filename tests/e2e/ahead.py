# SPDX-License-Identifier: Apache-2.0
"""Threads that ask PyTorch's DataLoader ahead of the training: where they hand on the batches by a queue
or a future, these have the waits of the training and the loads of the DataLoader; where that cannot be
followed, it is in doubt whose waits were seen. What the waits are: account.py."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import fakes  # noqa: E402
import stub  # noqa: E402
from dlprof_test import (PYTHON, check, databases, environment, equal, finish, need_shim,  # noqa
                         need_torch, report, rows, run, scratch, wait_for_drain)
from loops import DRIVER, epochs_of, split  # noqa: E402

SAMPLES = """
import itertools, queue, threading
from torch.utils.data import DataLoader
from monai.data.thread_buffer import ThreadBuffer
from prefetch_generator import BackgroundGenerator
class Samples:
    def __init__(self, bad=None):
        self.bad = bad
    def __len__(self):
        return 24
    def __getitem__(self, index):
        if index == self.bad:
            raise ValueError("bad sample %d" % index)
        time.sleep(0.001)
        return index
def keep(samples):
    return samples
def load(of=DataLoader, batch_size=4, dataset=Samples(), **more):
    return of(dataset, batch_size=batch_size, collate_fn=keep, **more)
"""
# name: (program, [batches of each epoch of each loader])
KNOWN = {
    "monai": ("""
class ThreadDataLoader(DataLoader):
    def __iter__(self):
        yield from ThreadBuffer(super().__iter__(), 2)
for workers in 2, 0:
    loader = load(ThreadDataLoader, num_workers=workers)
    for _ in range(2): drain(iter(loader).__next__)
inner = load(num_workers=1)
drain(iter(ThreadBuffer(inner)).__next__)       # the thread calls iter()
drain(iter(ThreadBuffer(inner)).__next__, 2)    # left half-way
""", [[6, 6], [6, 6], [6, 2]]),
    "prefetch_generator": ("""
class DataLoaderX(DataLoader):
    def __iter__(self):
        return BackgroundGenerator(super().__iter__(), 3)
for workers in 2, 0:
    loader = load(DataLoaderX, num_workers=workers)
    for _ in range(2): drain(iter(loader).__next__)
loader = load(batch_size=5, num_workers=2, persistent_workers=True)
drain(BackgroundGenerator(itertools.chain(loader, loader)).__next__)
drain(BackgroundGenerator(zip(load(batch_size=8), load(batch_size=12))).__next__)
drain(BackgroundGenerator(load(batch_size=1), 200).__next__)
drain(BackgroundGenerator(itertools.islice(itertools.cycle(load(batch_size=6)), 12)).__next__)
""", [[6, 6], [6, 6], [5, 5], [2], [24], [4]]),
    "prefetch_generator, error": ("""
it = BackgroundGenerator(iter(load(dataset=Samples(bad=17))))
drain(it.__next__, 4)
try:
    next(it)
except ValueError as error:
    print(error)
""", [[4]]),
}
HOME = """
class Ahead:
    def __init__(self, loader):
        self.loader, self.queue = loader, queue.Queue(2)
        self.thread = threading.Thread(target=self.fill, daemon=True)
    def fill(self):
        for batch in self.loader:
            self.queue.put([batch])
        self.queue.put(None)
    def __next__(self):
        if not self.thread.ident:
            self.thread.start()
        batch = self.queue.get()
        if batch is None:
            raise StopIteration
        return batch
def work():                                     # of a clock that stands still while others run
    end = time.thread_time() + 0.004
    while time.thread_time() < end:
        pass
def train(iterator):
    for _ in range(12):
        next(iterator)
        work()
    print(next(iterator, "none"))
loader = load(batch_size=2, num_workers=1)
"""
HERE = HOME + """
for _ in range(2):
    ahead = Ahead(loader)
    train(ahead)
    ahead.thread.join()
"""
# Two threads, one after the other.
CHAINED = HOME + """
class Through(Ahead):
    def fill(self):
        while True:
            batch = self.loader.get()
            self.queue.put(batch and [batch])
            if not batch: break
first = Ahead(loader)
first.thread.start()
train(Through(first.queue))
first.thread.join()
"""
# The thread that trains tells the main one of it, by a queue.
TELLS = HOME + """
def train_and_tell(told):
    for number, batch in enumerate(loader):
        work()
        told.put(("loss", number))
    told.put(None)
told = queue.Queue()
thread = threading.Thread(target=train_and_tell, args=(told,))
thread.start()
print(len(list(iter(told.get, None))))
told.put(("loss", 0)); print(told.get())
thread.join()
"""
TELLS_BY_GET = TELLS.replace("len(list(iter(told.get, None)))", "sum(1 for _ in iter(lambda: told.get(), None))")
# It hands them on in ways that are not followed.
UNFOLLOWED = {
    "put later": HERE.replace("""        for batch in self.loader:
            self.queue.put([batch])
""", """        last = None
        for batch in self.loader:
            if last:
                self.queue.put(last)
            last = [batch]
        self.queue.put(last)
"""),
    "simple queue": HERE.replace("queue.Queue(2)", "queue.SimpleQueue()"),
    "polled": HERE.replace("batch = self.queue.get()", """batch = ()
        while batch == ():
            try: batch = self.queue.get_nowait()
            except queue.Empty: time.sleep(0.003)"""),
    "looked whether it is empty": HERE.replace("batch = self.queue.get()", """
        while self.queue.empty(): time.sleep(0.003)
        batch = self.queue.get()"""),
    "method": HERE.replace("self.queue, self.queue = ", "self.queue = ").replace(
        "batch = self.queue.get()", "batch = self.get()").replace(
        "        self.thread =", "        self.get = self.queue.get\n        self.thread ="),
    "event loop": HOME + """
import asyncio
async def main():
    batches, loop = iter(loader), asyncio.get_running_loop()
    while await loop.run_in_executor(None, next, batches, None) is not None:
        work()
asyncio.run(main())
""",
    "waited for": HOME + """
import concurrent.futures as futures
batches, pool = iter(loader), futures.ThreadPoolExecutor(1)
while True:
    done, _ = futures.wait([pool.submit(next, batches, None)])
    if done.pop().result() is None: break
    work()
""",
    "done": HOME + """
import concurrent.futures as futures
batches, pool = iter(loader), futures.ThreadPoolExecutor(1)
while True:
    future = pool.submit(next, batches, None)
    while not future.done(): time.sleep(0.0015)
    if future.result() is None: break
    work()
""",
}
# What they are patched to must be what they were.
SAME = HERE + """
import concurrent.futures, inspect
pool = concurrent.futures.ThreadPoolExecutor(1)
print(inspect.signature(queue.Queue.get), inspect.signature(ahead.queue.get), inspect.signature(queue.Queue.put),
      inspect.signature(ahead.queue.put), inspect.signature(queue.Queue.empty), ahead.queue.empty(),
      inspect.signature(concurrent.futures.Future.result), inspect.signature(concurrent.futures.Future().result))
class Mine(queue.PriorityQueue):
    def get(self, *more, **named): return super().get(*more, **named)
mine = Mine(1)
mine.put(item=(2, 1), timeout=0.01)
for call, more in ((mine.put, ((3, 1), False)), (mine.put, ((3, 1), True, 0.01)), (mine.put_nowait, ((3, 1),)),
                   (mine.get, ()), (mine.get, (True, 0.01)), (mine.get_nowait, ()), (mine.get, (True, -1)),
                   (queue.Queue.get, ()), (mine.get, (1, 2, 3)), (queue.Queue.put, (mine,)),
                   (concurrent.futures.Future().result, (0.01,)), (pool.submit(int, "x").result, ()),
                   (concurrent.futures.Future.result, ())):
    try:
        print(call(*more))
    except Exception as error:
        print(type(error), error)
"""
# The thread's batches come out of a generator.
GENERATED = HOME + """
class Generating(Ahead):
    def __iter__(self):
        for _ in range(12):
            yield next(self)
ahead = Generating(loader)
for batch in ahead:
    work()
ahead.thread.join()
"""
# A thread trains with what other threads ask. The first of these is forgotten, as 16 others asked after it.
FORGOTTEN = HOME + """
given = queue.Queue()
def ask(gives):
    batch = next(iter(load(batch_size=24)))
    if gives: given.put(gives == "loss" or [batch])
def asks(gives):
    thread = threading.Thread(target=ask, args=(gives,))
    thread.start()
    thread.join()
def take():
    for gives in ["loss"] + 17 * [""] + ["batch", "batch"]:
        asks(gives)
        if gives: given.get()
thread = threading.Thread(target=take)
thread.start()
thread.join()
"""
# All of the training in a thread, as Ray has it, and the main one waits.
THERE = HOME + """
thread = threading.Thread(target=train, args=(iter(loader),))
thread.start()
thread.join()
"""
# An executor's thread asks, and the main one waits for it before it works.
AWAITED = HOME + """
from concurrent.futures import ThreadPoolExecutor
batches, thread = iter(loader), ThreadPoolExecutor(1)
while thread.submit(next, batches, None).result() is not None:
    work()
"""
# The same, and in that thread the user's own loader is asked, which has a thread that asks ahead.
THERE_AHEAD = THERE.replace("iter(loader)", "Ahead(loader)")


def record(name, folder, text, **changes):
    """The program's waits and its only database."""
    path, out = os.path.join(folder, "program.py"), scratch()
    with open(path, "w") as file:
        file.write(DRIVER + SAMPLES + text)
    plain = run([PYTHON, path], env=environment(False, PYTHONPATH=folder), cwd=folder)
    done = run([PYTHON, path], cwd=folder,
               env=environment(DLPROF_OUT=os.path.join(out, "run.db"), DLPROF_QUIET=1,
                               PYTHONPATH=folder, **changes))
    truth, rest = split(done.out)
    equal((done.status, rest, done.err), (plain.status, split(plain.out)[1], plain.err), name,
          "status and output")
    found = databases(out)
    if not equal(len(found), 1, name, "runs", done.err[-2000:]):
        finish()
    wait_for_drain(found[0])
    return truth, found[0]


def check_known(folder, name, text, expected):
    truth, database = record(name, folder, text)
    equal(sorted(epochs_of(database)), sorted(expected), name, "batches of each epoch")
    asked = rows(database, "SELECT DISTINCT loader_id, kind, workers, batch_size FROM loader JOIN batch "
                 "USING (loader_id)")
    equal({row["kind"] for row in asked}, {"torch.DataLoader"}, name, "kinds")
    check(all(row["workers"] and row["batch_size"] for row in asked), name, "loaders", asked)
    found = rows(database, "SELECT * FROM batch ORDER BY begin_ns")
    for row in found:
        check(any(begin <= row["begin_ns"] and row["begin_ns"] + row["wait_ns"] <= end
                  for begin, end in truth) or "error" in name, name, "no wait of the script's", row)
        check(row["load_ns"] and row["load_ns"] >= 1_000_000, name, "load", row)
    equal(rows(database, "SELECT * FROM note WHERE text LIKE '%thread%'"), [], name, "notes")


def check_home(folder):
    said = "SELECT text FROM note WHERE text LIKE '%DLPROF_BATCH_FN%'"
    for name, text, epochs in (("home-made", HERE, [[12, 12]]), ("chained", CHAINED, [[12]]), ("tells", TELLS, [[12]]), ("told", TELLS_BY_GET, [[12]]),
                               ("the same", SAME, [[12, 12]])):
        _, database = record(name, folder, text)
        equal(epochs_of(database), epochs, name, "batches")
        equal(rows(database, said), [], name, "what is said")
        equal(len(rows(database, "SELECT 1 FROM load")), sum(map(sum, epochs)), name, "loads")
    for name, text in UNFOLLOWED.items():
        # The training is faster than the loader.
        _, database = record(name, folder, text.replace("0.004", "0.0005") if "sleep(0.003)" in text else text)
        equal(len(rows(database, "SELECT 1 FROM batch")), 24 if "ahead = Ahead" in text else 12, name, "batches")
        equal(len(rows(database, said)), 1, name, "what is said")
    _, database = record("home-made, named", folder, HERE, DLPROF_BATCH_FN="__main__:Ahead.__next__")
    equal([row["kind"] for row in rows(database, "SELECT DISTINCT kind FROM batch JOIN loader "
                                       "USING (loader_id)")], ["batch_fn"], "home-made, named")
    equal(epochs_of(database), [[12, 12]], "home-made, named, batches")
    equal(len(rows(database, "SELECT 1 FROM load")), 24, "home-made, named, loads")
    equal(rows(database, said), [], "home-made, named, what is said")
    # What its thread asks ahead is not recorded, though its batches cannot be followed.
    _, database = record("put later, named", folder, UNFOLLOWED["put later"],
                         DLPROF_BATCH_FN="__main__:Ahead.__next__")
    equal(epochs_of(database), [[12, 12]], "put later, named, batches")
    _, database = record("generated, named", folder, GENERATED,
                         DLPROF_BATCH_FN="__main__:Generating.__iter__")
    equal(epochs_of(database), [[12]], "generated, batches")
    equal(rows(database, said), [], "generated, what is said")
    _, database = record("in a thread, named", folder, THERE_AHEAD,
                         DLPROF_BATCH_FN="__main__:Ahead.__next__")
    equal(epochs_of(database), [[12]], "in a thread, named, batches")
    for name, text in ("in a thread", THERE), ("ahead in a thread", THERE_AHEAD):
        _, database = record(name, folder, text)
        equal(epochs_of(database), [[12]], name, "batches")
        equal(rows(database, said), [], name, "what is said")
    record("forgotten", folder, FORGOTTEN)
    _, database = record("awaited", folder, AWAITED)
    equal(epochs_of(database), [[12]], "awaited, batches")
    equal(rows(database, said), [], "awaited, what is said")


def check_line(folder):
    """The line at exit has no figure where the report has none, also if another program prints it."""
    with open(os.path.join(folder, "second.py"), "w") as file:
        file.write(DRIVER + SAMPLES + HERE)
    second = UNFOLLOWED["polled"] + """
import os, sys
os.execv(sys.executable, [sys.executable, "second.py"])
"""
    for text, doubtful in ((UNFOLLOWED["polled"], True), (second, True), (HERE, False),
                           (AWAITED, False)):
        out = scratch()
        with open(os.path.join(folder, "program.py"), "w") as file:
            file.write(DRIVER + SAMPLES + text)
        done = run([PYTHON, file.name], cwd=folder, env=environment(
            DLPROF_OUT=os.path.join(out, "run.db"), PYTHONPATH=folder))
        equal("batches, in doubt whose waits these are, dlprof-report" in done.err, doubtful,
              done.err)
        equal("% of the time" in done.err, not doubtful, done.err)
        wait_for_drain(os.path.join(out, "run.db"))
        said = json.loads(report("--json", os.path.join(out, "run.db")).out)
        equal(said["verdict"] == "in_doubt", doubtful, said["verdict"])


def main():
    need_torch()
    need_shim()
    folder = scratch()
    fakes.write(folder)
    for name, (text, expected) in KNOWN.items():
        check_known(folder, name, text, expected)
    stub.make(folder)
    check_home(folder)
    check_line(folder)
    finish()


main()
