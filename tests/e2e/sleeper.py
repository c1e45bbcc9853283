# SPDX-License-Identifier: Apache-2.0
"""A training without a model: loads sleep, steps sleep, and the script keeps its own clock.

usage: sleeper.py LOG.json '{"workers": 7, ...}'. Knows nothing of dlprof. LOG gets one JSON line
per delivered batch, written before the next one is asked for, and a last line {"end": true, "at":
the last step's end}. The first line of an epoch has "between", how long the end of the epoch before
and iter() took.

What can be wrong with a training is a key of the plan: see seconds_of(), rebuild(), prepare() and
step(). Whatever is random is so by the index of the sample, so that every run of a plan, with
whatever number of workers, loads the same samples.
"""
import io
import json
import math
import os
import random
import sys
import time
from multiprocessing import queues

if os.environ.get("TEST_STUB"):
    sys.path.insert(0, os.environ["TEST_STUB"])

import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info  # noqa: E402


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def keep(samples):
    return samples


def rebuild(value, seconds):
    """Unpickles in the main process, which is what handing over a batch costs there."""
    time.sleep(seconds)
    return value


class Heavy:
    """A value that takes its time to hand over."""

    def __init__(self, value, seconds):
        self.value, self.seconds = value, seconds

    def __reduce__(self):
        return rebuild, (self.value, self.seconds)


def seconds_of(index, plan, worker):
    """How long the load of a sample takes."""
    chance = random.Random(index)
    seconds = plan["load_s"]
    if plan.get("slow_every") and index % plan["slow_every"] == plan["slow_every"] - 1:
        seconds *= plan["slow_factor"]
    if plan.get("slow_share") and chance.random() < plan["slow_share"]:
        seconds *= plan["slow_factor"]
    if plan.get("jitter"):
        seconds = min(chance.expovariate(1 / seconds), 4 * seconds)
    if plan.get("cv"):
        square = math.log(1 + plan["cv"] ** 2)
        seconds *= math.exp(chance.gauss(-square / 2, math.sqrt(square)))
    if plan.get("stall_at") == index:
        seconds += plan["stall_s"]
    if worker and worker.id in plan.get("slow_workers", [plan.get("slow_worker")]):
        seconds *= plan["slow_factor"]
    return seconds * (plan.get("cold_factor", 1) if plan.get("epoch") == 0 else 1)


def spend(seconds, plan):
    """Sleeps; a part of it may be work, and a storage that hangs holds up every worker. Returns how
    long that was meant to take."""
    begin = time.monotonic()
    for at, length in plan.get("hangs", ()):
        since = begin - plan["begin"]
        if since < at + length and since + seconds > at:
            seconds += at + length - max(since, at)
    share = plan.get("cpu_share", 0)
    work = seconds * share + time.thread_time()
    while share and time.thread_time() < work:
        pass
    # Who had to wait for a core does not sleep less for that.
    if share < 1:
        time.sleep(seconds * (1 - share))
    return seconds


def make_jpeg(side):
    """A square that is neither smooth nor noise."""
    from PIL import Image
    file = io.BytesIO()
    Image.radial_gradient("L").resize((side, side)).effect_spread(40).convert("RGB").save(file, "JPEG")
    return file.getvalue()


def make_payload(plan):
    """What a sample holds besides: images decoded, a tensor, an object to pickle."""
    for _ in range(plan.get("images", 0)):
        from PIL import Image
        Image.open(io.BytesIO(plan["jpeg"])).convert("RGB")
    if plan.get("tensor_bytes"):
        return torch.zeros(plan["tensor_bytes"], dtype=torch.uint8)
    return [b"%8d" % i for i in range(plan.get("objects", 0))]


def load(index, plan):
    """One sample: who loaded it and from when to when."""
    begin = now()
    worker = get_worker_info()
    seconds = spend(seconds_of(index, plan, worker), plan)
    payload = make_payload(plan)
    if plan.get("hand_over_s"):
        index = Heavy(index, plan["hand_over_s"])
    return {"index": index, "worker": worker.id if worker else None, "pid": os.getpid(),
            "load_s": seconds, "payload": payload, "load_begin": begin, "load_end": now()}


def meet(worker_id):
    """Workers that are started one by one would spread their loads; the example's do not."""
    open("{}.ready-{}".format(sys.argv[1], worker_id), "w").close()
    workers = get_worker_info().num_workers
    while not all(os.path.exists("{}.ready-{}".format(sys.argv[1], i)) for i in range(workers)):
        time.sleep(0.001)


def prepare(worker_id):
    """A worker that takes its time to start, all of them alike or one after the other."""
    plan = get_worker_info().dataset.plan
    time.sleep(plan.get("start_s", 0))
    if plan.get("meet"):
        meet(worker_id)
    time.sleep(worker_id * plan.get("apart_s", 0))


def delay_first(seconds, workers):
    """The thread that sends the first worker its tasks gets no core for a while, in each epoch."""
    feed, main, sent = queues.Queue._feed, os.getpid(), []

    def late(*arguments):
        if os.getpid() == main:
            sent.append(None)
            if len(sent) % workers == 1:
                time.sleep(seconds)
        feed(*arguments)

    queues.Queue._feed = staticmethod(late)


class Samples(Dataset):
    def __init__(self, plan, count):
        self.plan, self.count = plan, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return load(index, self.plan)


class Stream(IterableDataset):
    def __init__(self, plan, count):
        self.plan, self.count = plan, count

    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for index in range(first, self.count, step):
            yield load(index, self.plan)


def make_loader(plan, count, workers):
    kind = Stream if plan.get("iterable") else Samples
    options = {"num_workers": workers, "collate_fn": keep, "batch_size": plan.get("batch_size", 1)}
    if workers:
        options["multiprocessing_context"] = plan.get("start", "fork")
        options["persistent_workers"] = bool(plan.get("persistent"))
        if plan.get("meet") or plan.get("start_s"):
            options["worker_init_fn"] = prepare
        if "prefetch" in plan:
            options["prefetch_factor"] = plan["prefetch"]
    if plan.get("pin"):
        options["pin_memory"] = True
    if plan.get("in_order") is False:
        options["in_order"] = False
    return DataLoader(kind(plan, count), **options)


def step(plan, iterators, labels, epoch, ordinals, log):
    """Takes one batch from each iterator, then computes. False at the end of the data."""
    for i, iterator in enumerate(iterators):
        samples = None  # frees the last batch outside of the two stamps
        begin = now()
        try:
            samples = next(iterator)
        except StopIteration:
            plan["between"] = now() - begin
            return False
        end = now()
        line = dict(samples[-1], label=labels[i], epoch=epoch, batch=ordinals[i], begin=begin,
                    end=end, load_begin=samples[0]["load_begin"], between=plan.pop("between", 0))
        del line["payload"]
        ordinals[i] += 1
        os.write(log, (json.dumps(line) + "\n").encode())
    seconds = plan.get("step_s", 0)
    if plan.get("pause_every") and ordinals[0] % plan["pause_every"] == 0:
        seconds += plan["pause_s"]  # a checkpoint
    if plan.get("paced"):  # taking the batch over, which 10 ms would not hide, is part of the step
        seconds -= (now() - max(line["begin"], line["load_end"])) / 1e9
    work = time.thread_time() + plan.get("step_cpu_s", 0)
    while time.thread_time() < work:
        pass
    seconds -= plan.get("step_cpu_s", 0)
    if seconds > 0:
        time.sleep(seconds)
    plan["step_end"] = now()
    return True


def train(path, plan):
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    plan["begin"] = time.monotonic()
    if plan.get("late_s"):
        delay_first(plan["late_s"], plan["workers"])
    if plan.get("images"):
        plan["jpeg"] = make_jpeg(plan.get("side", 512))
    labels = plan.get("labels", ["train"])
    loaders = [make_loader(plan, plan["batches"] * plan.get("batch_size", 1), plan["workers"])
               for _ in labels]
    check = make_loader(plan, plan["validation"], 1) if plan.get("validation") else None
    for epoch in range(plan.get("epochs", 1)):
        plan["epoch"] = epoch
        begin = now()
        iterators = [iter(loader) for loader in loaders]
        plan["between"] = plan.get("between", 0) + now() - begin
        ordinals = [0 for _ in loaders]
        while step(plan, iterators, labels, epoch, ordinals, log):
            if plan.get("close_fds"):  # a program may close what it did not open
                os.closerange(log + 1, 4096)
        if check:
            iterators, ordinals = [iter(check)], [0]
            while step(plan, iterators, ["validation"], epoch, ordinals, log):
                pass
    os.write(log, json.dumps({"end": True, "at": plan["step_end"]}).encode() + b"\n")
    done = time.thread_time() + plan.get("after_cpu_s", 0)
    while time.thread_time() < done:
        pass
    print("trained", plan["batches"])
    return plan.get("status", 0)


if __name__ == "__main__":
    sys.exit(train(sys.argv[1], json.loads(sys.argv[2])))
