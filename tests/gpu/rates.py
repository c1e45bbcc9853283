# SPDX-License-Identifier: Apache-2.0
"""Checks what dlprof relies on to measure GPU time, beyond semantics.py.

usage: rates.py [CHECK...] [--double] [--cpu]
buffers:   does a buffer that was requested at a time hold operations from before it, and does each come back?
slow:      200 kernels a second from two threads, the host ahead: all steps known, NOT INPUT-BOUND.
side:      a thread that does not train keeps the GPU busy on a stream of its own: it counts as loading.
api:       the level api on the real runtime.
libraries: the same training with each libcupti in $TEST_BUILD/cupti/*/, by DLPROF_LIBCUPTI.
"""
import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import (ARGUMENTS, BUILD, DOUBLE, PYTHON, Table, Trace, rows, run, scratch, settings,  # noqa: E402
                 us, wait_for_drain)
from accuracy import CPU  # noqa: E402

# Largest difference of the two clocks. On the double, a thread takes the times, and may be kept from running.
SLACK_NS = 100_000_000 if DOUBLE else 1_000_000

TRAINING = r"""
import sys, threading, time, torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
count, load_s, size, side = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
device = sys.argv[5]
class Data(Dataset):
    def __len__(self): return count
    def __getitem__(self, i):
        time.sleep(load_s)
        return torch.ones(4096, 64)
trained = threading.Event()
def beside():
    a = torch.ones(8192, 8192, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        while not trained.is_set():
            for _ in range(8): a @ a
            torch.cuda.current_stream().synchronize()
if side and device == "cuda":
    threading.Thread(target=beside).start()
model = nn.Sequential(nn.Linear(64, size), *[nn.Linear(size, size) for _ in range(8)]).to(device)
step = torch.optim.SGD(model.parameters(), lr=1e-6)
ends = [torch.cuda.Event(), torch.cuda.Event()] if device == "cuda" else []
for i, x in enumerate(DataLoader(Data(), batch_size=None, num_workers=1, pin_memory=bool(ends))):
    model(x.to(device, non_blocking=True)).square().mean().backward()
    step.step(); step.zero_grad()
    if ends: ends[i % 2].record()
    if ends and i: ends[(i + 1) % 2].synchronize()
trained.set()
"""


def train(table, name, count, load_s, size, side, **changes):
    """Runs one training. Returns the report (JSON) and the database."""
    database = os.path.join(scratch(), "run.db")
    plan = (count, load_s, 64, side, "cpu") if CPU else (count, load_s, size, side, "cuda")
    status, _, err, _ = run([PYTHON, "-c", TRAINING] + [str(a) for a in plan],
                            settings(preload=True, double=False, DLPROF_OUT=database, **changes), 150)
    table.row(name + ": exit status", status if not status else err[-200:], 0, status == 0)
    wait_for_drain(database)
    found = subprocess.run([os.path.join(BUILD, "analyzer", "dlprof-report"), "--json", database],
                           stdout=subprocess.PIPE, env=settings()).stdout
    said = json.loads(found)
    known = rows(database, "SELECT COUNT(*) AS n, SUM(gpu_busy_ns IS NOT NULL) AS known FROM batch")[0]
    table.row(name + ": batches known, gaps", "{} of {}, {}".format(
        known["known"], known["n"], rows(database, "SELECT why FROM gap")), "all, none",
        known["known"] == known["n"] > 0 and not rows(database, "SELECT why FROM gap"))
    table.fact(name + ": verdict, ratio, clock", (said["verdict"], said["stall"]["ratio"], said["clock"]))
    return said, database


def buffers(table):
    for what in ("storm", 20000, 50, 40), ("graph", 200, 200):
        trace = Trace(*what, CLIENT_FLUSH_MS=1000)
        asked, early, worst, ages, begun = {}, 0, 0, [], None
        for words in trace.said:
            if words[0] == "request" and len(words) > 3:
                asked[words[2]] = int(words[3])
            elif words[0] == "buffer":
                begun = asked.pop(words[-1], None)
                ages += [int(words[2]) - begun] if begun else []
            elif words[0] == "record" and begun and words[1] in ("1", "2", "3", "10") and int(words[2]):
                before = begun - trace.to_mono(int(words[2]))
                early, worst = early + (before > SLACK_NS), max(worst, before)
        table.row("buffers, {}: operations older than their buffer".format(what[0]),
                  "{} of {}, worst {}".format(early, len(trace.records), us(worst)), 0, early == 0 and ages != [])
        table.fact("buffers, {}: given back, oldest, never".format(what[0]),
                   "{}, {}, {}".format(len(ages), us(max(ages, default=None)), len(asked)))


def slow(table):
    said, database = train(table, "slow", 80, 0.08, 8192, 0)
    table.row("slow: verdict", said["verdict"], "not_input_bound", said["verdict"] == "not_input_bound")
    for row in rows(database, "SELECT name, symbol FROM gpu_kernel ORDER BY ns DESC LIMIT 3"):
        table.fact("slow: a kernel's name", row["name"][:150])


def side(table):
    said, database = train(table, "side", 100, 0.1, 512, 1)
    loading = (said["gpu"] or {}).get("loading_s")
    table.row("side: loading, verdict", (loading, said["verdict"]), "> 0, highly_input_bound",
              bool(loading) and said["verdict"] == "highly_input_bound")


def api(table):
    _, database = train(table, "api", 40, 0.01, 2048, 0, DLPROF_CUDA="api")
    calls = rows(database, "SELECT SUM(sync_ns) AS s, SUM(launch_count) AS n FROM gpu_call")[0]
    table.row("api: waits and launches of the training", (calls["s"], calls["n"]), "> 0",
              bool(calls["s"]) and bool(calls["n"]))
    # Correlation ids tell which launch belongs to a kernel, and so the part of the step that launched it.
    parts = " + ".join("launched_{}_ns".format(part) for part in ("before", "backward", "between", "optimizer", "after"))
    share = rows(database, "SELECT SUM({}) * 1.0 / SUM(gpu_busy_ns) AS n FROM gpu_part JOIN gpu_step USING (rank,"
                 " loader_id, epoch, batch) WHERE launched_after_ns NOT NULL".format(parts))[0]["n"]
    table.row("api: kernels by the part that launched them, of the busy time", share, "0.9 to 1.1",
              0.9 <= (share or 0) <= 1.1)


def libraries(table):
    found = sorted(glob.glob(os.path.join(BUILD, "cupti", "*", "libcupti.so.1*")))
    if not found:
        table.fact("libraries", "none were carried to {}/cupti".format(BUILD))
    for path in found:
        train(table, "library " + path.split("/")[-2], 40, 0.01, 2048, 0, DLPROF_LIBCUPTI=path)


def main():
    table = Table("rates")
    checks = buffers, slow, side, api, libraries
    table.each([(check.__name__, check, table) for check in checks
                if check.__name__ in (ARGUMENTS or [check.__name__])])


main()
