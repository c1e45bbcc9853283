# SPDX-License-Identifier: Apache-2.0
"""A ResNet-50 on a folder of JPEG images: the verdict, the cause and the promised gains against what they bring.

usage: pipeline.py [--cpu]. A minute and a half. The same training with one worker, with two, with twelve, and with
one batch that is in memory from the start (input at no cost); each under dlprof and by its own stopwatch. The screens
and databases are left in $OUT. --cpu: no GPU; only that the script runs.
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
loader, step, waits, ends = batches(), 0, [], []
while True:
    begin = time.monotonic_ns()
    try:
        images, labels = next(loader)
    except StopIteration:
        break
    waits.append(time.monotonic_ns() - begin)
    loss = nn.functional.cross_entropy(model(images.to(device, non_blocking=True)),
                                       labels.to(device, non_blocking=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 10 == 0:
        loss.item()
        ends.append(time.monotonic_ns())
print(json.dumps(dict(waits=waits, ends=ends)))
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
    """(seconds a step, share of the wait, the report as JSON) of one training, of its middle by the stopwatch."""
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
    waits, ends = lines["waits"], lines["ends"]
    took_s = (ends[-1] - ends[0]) / 1e9
    share = sum(waits[10:]) / 1e9 / took_s
    if workers < 0:
        return took_s / (plan[0] - 10), share, None
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
    return took_s / (plan[0] - 10), share, said


def promise(table, name, said, low, high, real):
    """A gain that was promised, 1 for as fast again, against the one that came."""
    table.row("{}: promised, and real".format(name), "{:.2f} ({:.2f} to {:.2f}), {:.2f}".format(said, low, high, real),
              "inside its range, or 5 % from it", low / 1.05 <= real <= high * 1.05)


def main():
    table, images = Table("pipeline"), scratch()
    subprocess.run([PYTHON, "-c", IMAGES, images, "8" if CPU else "256"], check=True, env=settings(double=False))
    one, two, twelve, memory = (train(table, images, workers, steps) for workers, steps in
                                ((1, 60), (2, 80), (12, 200), (-1, 100)))
    if not (one and two and twelve and memory):
        table.end()
    table.row("workers=1: verdict", one[2]["verdict"], "highly_input_bound", one[2]["verdict"] == "highly_input_bound")
    table.row("workers=1: ratio off the stopwatch's wait", "{:+.1f} points".format(
        100 * (one[2]["stall"]["ratio"] - one[1])), "-5 to 1: the GPU may work on what was queued",
        -0.05 <= one[2]["stall"]["ratio"] - one[1] <= 0.01)
    priced = {row["id"]: row for row in one[2]["whatif"] or []}
    base = priced["baseline"]["batches_per_s"]
    for name, row, other in (("workers=1, input at no cost", "synthetic", memory),
                             ("workers=1, one more", "workers_x2", two)):
        row = priced[row]
        promise(table, name, row["batches_per_s"] / base, row["ci95"][0] / base, row["ci95"][1] / base,
                one[0] / other[0])
    table.fact("seconds a step: 1, 2, 12 workers, in memory", " ".join(
        "{:.4f}".format(run[0]) for run in (one, two, twelve, memory)))
    table.end()


main()
