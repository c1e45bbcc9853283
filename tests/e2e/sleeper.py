# SPDX-License-Identifier: Apache-2.0
"""A training without a model: loads sleep, steps sleep, and the script keeps its own clock.

usage: sleeper.py LOG.json '{"workers": 7, ...}'. Knows nothing of dlprof. LOG gets one JSON line
per delivered batch, written before the next one is asked for, and a last line {"end": true}.
"""
import json
import os
import random
import sys
import time

if os.environ.get("TEST_STUB"):
    sys.path.insert(0, os.environ["TEST_STUB"])

from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info  # noqa: E402


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def keep(samples):
    return samples


def load(index, plan):
    """One sample: who loaded it and from when to when."""
    begin = now()
    seconds = plan["load_s"]
    if plan.get("slow_every") and index % plan["slow_every"] == plan["slow_every"] - 1:
        seconds *= plan["slow_factor"]
    if plan.get("jitter"):
        seconds = min(random.Random(index).expovariate(1 / seconds), 4 * seconds)
    time.sleep(seconds)
    worker = get_worker_info()
    return {"index": index, "worker": worker.id if worker else None, "pid": os.getpid(),
            "load_begin": begin, "load_end": now()}


def meet(worker_id):
    """Workers that are started one by one would spread their loads; the example's do not."""
    open("{}.ready-{}".format(sys.argv[1], worker_id), "w").close()
    workers = get_worker_info().num_workers
    while not all(os.path.exists("{}.ready-{}".format(sys.argv[1], i)) for i in range(workers)):
        time.sleep(0.001)


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
        if plan.get("meet"):
            options["worker_init_fn"] = meet
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
            return False
        end = now()
        line = dict(samples[-1], label=labels[i], epoch=epoch, batch=ordinals[i], begin=begin,
                    end=end, load_begin=samples[0]["load_begin"])
        ordinals[i] += 1
        os.write(log, (json.dumps(line) + "\n").encode())
    if plan.get("step_s"):
        time.sleep(plan["step_s"])
    return True


def main():
    plan = json.loads(sys.argv[2])
    log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    labels = plan.get("labels", ["train"])
    loaders = [make_loader(plan, plan["batches"] * plan.get("batch_size", 1), plan["workers"])
               for _ in labels]
    check = make_loader(plan, plan["validation"], 1) if plan.get("validation") else None
    for epoch in range(plan.get("epochs", 1)):
        iterators = [iter(loader) for loader in loaders]
        ordinals = [0 for _ in loaders]
        while step(plan, iterators, labels, epoch, ordinals, log):
            if plan.get("close_fds"):  # a program may close what it did not open
                os.closerange(log + 1, 4096)
        if check:
            iterators, ordinals = [iter(check)], [0]
            while step(plan, iterators, ["validation"], epoch, ordinals, log):
                pass
    os.write(log, b'{"end": true}\n')
    print("trained", plan["batches"])
    return plan.get("status", 0)


if __name__ == "__main__":
    sys.exit(main())
