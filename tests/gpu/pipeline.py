# SPDX-License-Identifier: Apache-2.0
"""Trains a ResNet-50 on JPEG images, and compares the gains that dlprof promises with those that changes bring.

usage: pipeline.py [--cpu]. Takes a minute and a half. Runs the training with one worker, two, twelve, and with a
single batch kept in memory (input at no cost), each under dlprof and with the script's own clock. Screens and
databases are left in $OUT. --cpu: without a GPU, shows only that the script runs.
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import BUILD, OUT, PYTHON, Table, median, rows, run, scratch, settings, wait_for_drain  # noqa: E402
from accuracy import CPU  # noqa: E402

TRAINING = r"""
import glob, json, os, sys, time
import torch, torchvision
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

folder, workers, steps, batch, device = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]

class Images(Dataset):
    def __init__(self):
        self.paths = sorted(glob.glob(os.path.join(folder, "*.jpg")))
        self.transform = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(),
                                             transforms.ToTensor()])

    def __len__(self):
        return steps * batch

    def __getitem__(self, i):
        with open(self.paths[i % len(self.paths)], "rb") as file:
            return self.transform(Image.open(file).convert("RGB")), i % 10

def batches():
    if workers < 0:
        first = next(iter(DataLoader(Images(), batch_size=batch)))
        return ([x.pin_memory() if device == "cuda" else x for x in first] for _ in range(steps))
    return iter(DataLoader(Images(), batch_size=batch, num_workers=workers, pin_memory=device == "cuda"))

model = (torchvision.models.resnet50() if device == "cuda" else torchvision.models.resnet18()).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader, step, waits, first, warm = batches(), 0, [], 0, 0
while True:
    begin = time.monotonic_ns()
    try:
        images, labels = next(loader)
    except StopIteration:
        break
    now = time.monotonic_ns()
    waits.append(now - begin)
    first = first or now
    warm = now if step == 10 else warm
    loss = nn.functional.cross_entropy(model(images.to(device, non_blocking=True)),
                                       labels.to(device, non_blocking=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 10 == 0:
        loss.item()
print(json.dumps(dict(waits=waits, whole_s=(time.monotonic_ns() - first) / 1e9,
                      each_s=(time.monotonic_ns() - warm) / 1e9 / (step - 10))))
"""

IMAGES = """
import os, sys
from PIL import Image
for i in range(int(sys.argv[2])):
    noise = Image.effect_noise((125, 94), 90).resize((500, 375), Image.BICUBIC)
    Image.merge("RGB", [noise, noise.rotate(90, expand=False), noise.rotate(180)]).save(
        os.path.join(sys.argv[1], "%03d.jpg" % i), quality=90)
"""


def train(table, images, workers, steps):
    """Runs one training. Returns seconds since the first batch, seconds a warm step, share of waiting, the report.

    The first three are measured by the script itself.
    """
    name = "in memory" if workers < 0 else "workers={}".format(workers)
    folder = scratch()
    database = os.path.join(folder, "run.db")
    plan = (20, 2, "cpu") if CPU else (steps, 32, "cuda")
    status, out, err, _ = run([PYTHON, "-c", TRAINING, images, str(workers)] + [str(a) for a in plan],
                              settings(preload=True, double=False, DLPROF_OUT=database), 150)
    if not table.row(name + ": exit status", status if not status else err[-300:], 0, status == 0):
        return None
    wait_for_drain(database)
    lines = json.loads(out.splitlines()[-1])
    waits, whole_s, each_s = lines["waits"], lines["whole_s"], lines["each_s"]
    share = sum(waits[1:]) / 1e9 / whole_s
    if workers < 0:
        return whole_s, each_s, share, None
    line = [said for said in err.splitlines() if said.startswith("dlprof:")]
    table.fact(name + ": the line at exit", line[:1])
    report = os.path.join(BUILD, "analyzer", "dlprof-report")
    said, text = (subprocess.run([report, how, database], stdout=subprocess.PIPE, env=settings()).stdout
                  for how in ("--json", "-v"))
    for path, content in (("pipeline-{}.txt".format(workers), text), ("pipeline-{}.json".format(workers), said)):
        with open(os.path.join(OUT, path), "wb") as file:
            file.write(content)
    shutil.copy(database, os.path.join(OUT, "pipeline-{}.db".format(workers)))
    found = rows(database, "SELECT wait_ns FROM batch ORDER BY begin_ns")
    off = [abs(row["wait_ns"] - own) for row, own in zip(found, waits)]
    table.row(name + ": a wait off the script's, median", "{:.1f} us".format((median(off) or 0) / 1000),
              "<= 500 us", len(found) == len(waits) and median(off) <= 500_000)
    said = json.loads(said)
    table.fact(name + ": stopwatch's wait; verdict, ratio, clock, cause", "{:.3f}; {}, {:.3f}, {}, {}".format(
        share, said["verdict"], said["stall"]["ratio"], said["clock"], said["cause"]))
    return whole_s, each_s, share, said


def promise(table, name, said, low, high, real):
    """Compares a promised gain (1: twice as fast) with the real one."""
    table.row("{}: promised, and real".format(name), "{:.2f} ({:.2f} to {:.2f}), {:.2f}".format(said, low, high, real),
              "inside its range, or 5 % from it", low / 1.05 <= real <= high * 1.05)


def main():
    table, images = Table("pipeline"), scratch()
    subprocess.run([PYTHON, "-c", IMAGES, images, "8" if CPU else "256"], check=True, env=settings(double=False))
    counts = 1, 2, 12, -1
    done = dict(zip(counts, (train(table, images, workers, 100) for workers in counts)))
    if None in done.values():
        table.end()
    for workers, verdict in ((1, "highly_input_bound"), (2, "highly_input_bound"), (12, "not_input_bound")):
        _, _, share, said = done[workers]
        off = said["stall"]["ratio"] - share
        table.row("workers={}: verdict; ratio off the script's waits".format(workers), "{}, {:+.1f} points".format(
            said["verdict"], 100 * off), verdict + ", -5 to 1: the GPU may have work",
            said["verdict"] == verdict and -0.05 <= off <= 0.01)
    for workers, row, other in ((1, "synthetic", -1), (1, "workers_x2", 2), (1, "more_workers", 12), (2, "synthetic", -1),
                                (2, "more_workers", 12)):
        priced = {row["id"]: row for row in done[workers][3]["whatif"] or []}
        if row not in priced:
            table.row("workers={}: {}".format(workers, row), "not predicted", "a prediction", False)
            continue
        base, found = priced["baseline"]["batches_per_s"], priced[row]
        promise(table, "workers={}: {}, {} workers".format(workers, row, found.get("workers", other)),
                found["batches_per_s"] / base, *[rate / base for rate in found["ci95"]],
                real=done[workers][0] / done[other][0])
    table.fact("seconds a step when warm: 1, 2, 12 workers, in memory", " ".join(
        "{:.4f}".format(found[1]) for found in done.values()))
    table.end()


main()
