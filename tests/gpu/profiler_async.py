# SPDX-License-Identifier: Apache-2.0
"""Begins and ends torch.profiler while kernels are queued, as happens in a training without item().

usage: profiler_async.py plain|schedule STEPS DEVICE. Prints as JSON how many kernels the trace has, and how many of
them were launched within it. The others were launched before the profiler began.
"""
import json
import os
import sys
import tempfile

import torch
from torch import nn

MODE, STEPS, DEVICE = sys.argv[1], int(sys.argv[2]), sys.argv[3]
GPU = DEVICE == "cuda"
SIZE, ROWS, LAYERS = (2048, 4096, 8) if GPU else (64, 8, 8)
BEFORE, AFTER = 30, 60  # number of steps before and after the profiler

model = nn.Sequential(*[nn.Linear(SIZE, SIZE) for _ in range(LAYERS)]).to(DEVICE)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
data = torch.ones(ROWS, SIZE)
data = data.pin_memory() if GPU else data
events = [torch.cuda.Event() for _ in range(3)] if GPU else []


def train(steps):
    """Trains with the host two steps ahead of the GPU, so that kernels are always queued."""
    for i in range(steps):
        model(data.to(DEVICE, non_blocking=True)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if events:
            events[i % 3].record()
            events[(i + 1) % 3].synchronize()
        yield i


def profile():
    activities = [torch.profiler.ProfilerActivity.CPU]
    if GPU:
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    if MODE == "schedule":
        with torch.profiler.profile(activities=activities, schedule=torch.profiler.schedule(
                wait=1, warmup=1, active=STEPS)) as found:
            for _ in train(STEPS + 2):
                found.step()
        return found
    # Stacks and shapes make the CPU's trace long, so that the profiler takes long before it flushes CUPTI.
    with torch.profiler.profile(activities=activities, with_stack=True, record_shapes=True) as found:
        list(train(STEPS))
        if GPU:
            torch.cuda.synchronize()
    return found


def main():
    list(train(BEFORE))
    found = profile()
    path = os.path.join(tempfile.mkdtemp(), "trace.json")
    found.export_chrome_trace(path)
    with open(path) as file:
        trace = json.load(file)
    trace = trace["traceEvents"] if isinstance(trace, dict) else trace
    list(train(AFTER))
    launched = {event["args"].get("correlation") for event in trace
                if event.get("cat") in ("cuda_runtime", "cuda_driver")}
    kernels = [event["args"].get("correlation") for event in trace if event.get("cat") == "kernel"]
    print(json.dumps(dict(kernels=len(kernels), launched=sum(kernel in launched for kernel in kernels))))


main()
