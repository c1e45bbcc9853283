# SPDX-License-Identifier: Apache-2.0
"""A training on the GPU with planned stalls, which accuracy.py, others.py and cost.py run.

usage: training.py JSON (keys and defaults: PLAN). Prints a line of JSON for each step, with times of CLOCK_MONOTONIC.
"""
import json
import os
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PLAN = dict(steps=300, workers=2, batch=64, model="cnn", load_ms=1.0, stall_every=25, stall_ms=80.0,
            amp=False, compile="", accumulate=1, prefetch=False, profile=None, device="cuda",
            events=True, trace="", graph=False, size=112, marks=False, inner=1, same=False)
PLAN.update(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})
DEVICE = torch.device(PLAN["device"])
GPU = DEVICE.type == "cuda"


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Images(Dataset):
    """Each item is a batch of random numbers that takes `load_ms` to load, and some take `stall_ms` more.

    With `same`, all are copies of one batch, as making 38 MB of random numbers takes longer than a step.
    """

    made = None

    def __len__(self):
        return PLAN["steps"]

    def __getitem__(self, i):
        stall = PLAN["stall_every"] and i % PLAN["stall_every"] == PLAN["stall_every"] - 1
        time.sleep((PLAN["load_ms"] + (PLAN["stall_ms"] if stall else 0)) / 1000)
        generator = torch.Generator().manual_seed(0 if PLAN["same"] else i)
        size = PLAN["size"]
        shape = (3, size, size) if PLAN["model"] == "cnn" else (128, 512)
        if not PLAN["same"] or self.made is None:
            self.made = torch.rand(PLAN["batch"], *shape, generator=generator)
        # A thread of the worker moves the returned tensor to shared memory, so it must not be returned twice.
        return self.made.clone() if PLAN["same"] else self.made


def network():
    torch.manual_seed(0)
    if PLAN["model"] == "cnn":
        layers, width = [], 3
        for out in 64, 64, 128, 128, 256, 256:
            layers += [nn.Conv2d(width, out, 3, padding=1, stride=2 if out > width else 1),
                       nn.BatchNorm2d(out), nn.ReLU()]
            width = out
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))
    layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
    return nn.Sequential(nn.TransformerEncoder(layer, 4), nn.Flatten(), nn.LazyLinear(10))


class Prefetcher:
    """Copies the next batch to the device on a separate stream while the step of this batch runs."""

    def __init__(self, loader):
        self.loader, self.stream = iter(loader), torch.cuda.Stream()

    def __iter__(self):
        return self

    def __next__(self):
        batch = next(self.loader)
        with torch.cuda.stream(self.stream):
            batch = batch.to(DEVICE, non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.stream)
        batch.record_stream(torch.cuda.current_stream())
        return batch


def profiler():
    """Returns the profiler that a user might run on some of the steps, or None."""
    if not PLAN["profile"]:
        return None
    activities = [torch.profiler.ProfilerActivity.CPU]
    if GPU:
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    return torch.profiler.profile(activities=activities)


def main():
    model = network().to(DEVICE)
    optimizer = None
    if PLAN["compile"]:
        model = torch.compile(model, mode=None if PLAN["compile"] == "default" else PLAN["compile"])
    ahead = dict(prefetch_factor=4) if PLAN["workers"] else {}
    loader = DataLoader(Images(), batch_size=None, num_workers=PLAN["workers"], pin_memory=GPU,
                        **ahead)
    batches = Prefetcher(loader) if PLAN["prefetch"] and GPU else iter(loader)
    profile, running, step = profiler(), False, 0
    begin = now()
    for batch in batches:
        fetched = now()
        if profile and step == PLAN["profile"][0]:
            profile.__enter__()
            running = True
        ends = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if GPU else []
        if ends:
            ends[0].record()
        size = batch.numel() * batch.element_size()
        batch = batch.to(DEVICE, non_blocking=True)
        for _ in range(PLAN["inner"]):
            with torch.autocast(DEVICE.type, dtype=torch.bfloat16, enabled=PLAN["amp"]):
                loss = model(batch).float().pow(2).mean()
            loss.backward()
        if optimizer is None:  # lazy layers have parameters only after a first forward pass
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        if (step + 1) % PLAN["accumulate"] == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        value = loss.item()
        if ends:
            ends[1].record()
            ends[1].synchronize()
        if running and step + 1 == PLAN["profile"][1]:
            torch.cuda.synchronize() if GPU else None
            profile.__exit__(None, None, None)
            running = False
            if PLAN["trace"]:
                profile.export_chrome_trace(PLAN["trace"])
        print(json.dumps(dict(step=step, begin=begin, fetched=fetched, end=now(), bytes=size,
                              event_ms=ends[0].elapsed_time(ends[1]) if ends else None,
                              loss=value)))
        step += 1
        begin = now()
    if GPU:
        free, total = torch.cuda.mem_get_info()
        print(json.dumps(dict(free=free, total=total)))
    sys.stdout.flush()
    if os.environ.get("TRAIN_END"):
        getattr(sys.modules[__name__], "end_" + os.environ["TRAIN_END"])()


def end_exit():
    os._exit(0)


def end_fork():
    """Forks a child that has a copy of CUDA's state and ends by exit(); waits, and ends with 1 if the child failed."""
    child = os.fork()
    if child:
        sys.exit(bool(os.waitpid(child, 0)[1]))
    time.sleep(1)


def end_outlive():
    """Forks a child that ends by exit() two seconds after this process; both hold the output open."""
    if os.fork() == 0:
        time.sleep(2)


def end_term():
    os.kill(os.getpid(), 15)


def end_kill():
    os.kill(os.getpid(), 9)


def end_raise():
    raise ValueError("on purpose")


def end_fault():
    import ctypes
    import faulthandler
    faulthandler.enable()
    ctypes.string_at(0)


if __name__ == "__main__":
    main()
