# SPDX-License-Identifier: Apache-2.0
"""The parts of a training's step: those of loops that sleep a known time in each, and that nothing
that a training can see of its functions is changed.

usage: step_parts.py. A loop whose numbers are off is run again: the machine may have been busy."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, databases, environment, equal, finish,  # noqa: E402
                         need_shim, need_torch, report, rows, run, say, scratch, use_stub,
                         wait_for_drain)
from interpreter import find  # noqa: E402

ATTEMPTS = 4
PARTS = ["before", "backward", "between", "optimizer", "save"]

# Each nap is counted under the part that it lies in; `after` is what is left of the step.
HEAD = """
import json, sys, time
import torch
from torch.utils.data import DataLoader
slept = dict.fromkeys(["before", "backward", "between", "optimizer", "save", "after"], 0)
def nap(part, seconds=0.004):
    begin = time.perf_counter()
    time.sleep(seconds)
    slept[part] += time.perf_counter() - begin
class Optimizer(torch.optim.optimizer.Optimizer):
    def update(self, closure=None):
        loss = closure() if closure else None
        nap("optimizer")
        return loss
class File:
    def write(self, what):
        nap("save", 0.01)
def forward():
    nap("before", 0.006)
    return torch.Tensor(lambda: nap("backward", 0.005))
optimizer, other = Optimizer(), Optimizer()
loader = DataLoader(range(%d), batch_size=None)
def train(*passes):
    for _ in range(2):
        for i in loader:
            for each in passes:
                each(i)
"""
BATCHES = 12
TAIL = """
print(json.dumps(slept))
"""
PASS = """
def one(i):
    forward().backward()
    nap("between", 0.003)
    optimizer.step()
"""

LOOPS = {
    "plain": PASS + """
def save(i):
    if i % 4 == 3:
        torch.serialization.save(1, File())
train(one, lambda i: nap("after"), save)
""",
    "closure": """
def closure():
    loss = forward()
    loss.backward()
    nap("between", 0.003)
    return 7
def step(i):
    assert (optimizer.step(closure) if i % 2 else optimizer.step(closure=closure)) == 7
train(step, lambda i: nap("after"))
""",
    "two backward passes, then two optimizers": PASS + """
def two(i):
    forward().backward()
    forward().backward()
    optimizer.step()
    other.step()
optimizer.step()  # one must have been seen before what lies between two backward passes is known
slept["optimizer"] = 0
train(two, lambda i: nap("after"))
""",
    "accumulation": PASS + """
train(lambda i: one(i) if i % 2 else forward().backward(), lambda i: nap("after"))
""",
    # What is done between epochs is in no batch's step.
    "validation": PASS + """
held = DataLoader(range(3), batch_size=None)
def validate(i):
    if i == 5:
        for _ in held:
            nap("after", 0.002)
        torch.serialization.save(1, File())
train(one, validate, lambda i: nap("after"))
for _ in held:
    pass
torch.serialization.save(1, type("Other", (), {"write": lambda s, w: time.sleep(0.02)})())
for _ in held:
    pass
""",
    "errors": PASS + """
class Failed(Exception):
    pass
def fail():
    nap("backward")
    raise Failed
class Bad(torch.optim.optimizer.Optimizer):
    def update(self):
        nap("optimizer")
        raise Failed
def failing(i):
    for call in torch.Tensor(fail).backward, Bad().step:
        try:
            call()
        except Failed:
            pass
train(lambda i: failing(i) if i % 3 == 0 else one(i))
""",
}

# torch.compile leaves no hook in a step that it compiles.
COMPILED = """
class Compiled:
    def step(self):
        nap("optimizer")
optimizer = other = Compiled()
"""

# One of two is compiled: what the other one's hooks tell is not all.
ONE_COMPILED = COMPILED.replace("optimizer = other", "other") + """
from torch._dynamo.variables.optimizer import OptimizerVariable
optimizer.step()
OptimizerVariable(other)
"""

SUMS = ("SELECT {} COUNT(before_ns) AS split, COUNT(*) AS count, MAX(before_ns + backward_ns +"
        " between_ns + optimizer_ns + save_ns - compute_ns) AS excess, SUM(compute_ns) AS compute"
        " FROM batch WHERE loader_id = 1").format(
            "".join("SUM({}_ns) AS '{}', ".format(part, part) for part in PARTS))


def record(name, text, python=PYTHON, **variables):
    folder = scratch()
    database = os.path.join(folder, "run.db")
    with open(os.path.join(folder, "program.py"), "w") as file:
        file.write(HEAD % BATCHES + text + TAIL)
    done = run([python, "-W", "ignore", "program.py"], cwd=folder,
               env=environment(DLPROF_OUT=database, DLPROF_QUIET=1, **variables))
    equal(done.status, 0, name, done.err[-2000:])
    for each in databases(folder):
        wait_for_drain(each)
    return json.loads(done.out), database


def faults(slept, seen):
    """Naps are no shorter than what was planted; on a busy machine all else is longer."""
    whole = seen["compute"]
    left = whole - sum(seen[part] or 0 for part in PARTS)
    for part in PARTS + ["after"]:
        found, planted = left if part == "after" else seen[part] or 0, slept[part] * 1e9
        if not -0.002 * whole <= found - planted <= 0.03 * whole:
            yield part, found / whole, planted / whole


def check_loop(name, text):
    for attempt in range(ATTEMPTS):
        slept, database = record(name, text)
        seen = rows(database, SUMS)[0]
        wrong = list(faults(slept, seen))
        if not wrong:
            break
        say(name, "attempt", attempt, wrong)
    check(not wrong, name, wrong)
    # The last step of all has no end that is known.
    equal((seen["count"], seen["split"]), (2 * BATCHES, 2 * BATCHES), name, seen)
    check(seen["excess"] <= 0, name, "parts are no longer than the step", seen)
    return database


def check_report(database):
    """What the report says of the steps is what the database has, and why they are long."""
    seen, found = rows(database, SUMS)[0], json.loads(report("--json", database).out)
    step, text = found["step"], report("-v", database).out
    shares = [step[part] for part in PARTS + ["after", "other_loops"]]
    check(abs(sum(shares) - 1) < 1e-6, "the parts sum to the step", step)
    for part in PARTS:
        check(abs(step[part] * found["stall"]["time_s"] * (1 - found["stall"]["ratio"])
                  - seen[part] / 1e9) < 1e-3, part, step, seen)
    equal(found["cause"], "saving", "a training that saves every fourth step")
    for words in ("Step   ", "before backward", "saving", "The training stops to save"):
        check(words in text, words, text)
    # It is too short for a gate, which says what it has found all the same.
    done = report("gate", database, "--limit", "step.save<=1%")
    equal(done.status, 3, "a gate of a short run", done.out)
    said = re.search(r"step.save <= 1%  CANNOT SAY  ([0-9.]+) %;", done.out)
    check(said and abs(float(said.group(1)) - 100 * step["save"]) <= (0.06 if "." in said.group(1) else 0.51),
          "a share of the step", step, done.out)


# Python code that runs for a call of ours has a frame, which a profiler sees.
DIRECT = """
def profiler(frame, event, argument):
    if event == "call" and frame.f_code.co_name in ("begins", "ends"):
        frames.add(frame.f_code.co_name)
import types
frames = set()
sys.setprofile(profiler)
train(lambda i: (forward().backward(), optimizer.step()))
sys.setprofile(None)
slept["frames"] = sorted(frames)
slept["is wrapped"] = type(torch.autograd.backward) is not types.FunctionType
"""


def check_direct():
    """From CPython 3.12 on a backward pass and an optimizer's hooks make no object and no frame."""
    for version in ("3.8", "3.11", "3.12", "3.13", "3.14"):
        for python in find(version):
            slept, database = record(version, DIRECT, python)
            is_old = int(version[2:]) < 12
            equal((slept["frames"], slept["is wrapped"]),
                  (["begins", "ends"] if is_old else [], is_old), python, "how hooks are called")
            seen = rows(database, SUMS)[0]
            check(seen["backward"] > 0 and seen["optimizer"] > 0, python, seen)


HARMLESS = """
import hashlib, inspect, io, pickle
import torch
from torch.utils.data import DataLoader
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.1), torch.nn.Linear(16, 1))
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
schedulers = [torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: 0.9 ** i),
              torch.optim.lr_scheduler.StepLR(optimizer, 3)]
def closure():
    optimizer.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    return loss
for batch in DataLoader(torch.rand(64, 8), batch_size=8, shuffle=True):
    print(optimizer.step(closure).item())
    for scheduler in schedulers:
        scheduler.step()
kept = io.BytesIO()
torch.save(model.state_dict(), kept)
print(hashlib.md5(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
for function in torch.save, torch.autograd.backward, torch.Tensor.backward:
    print(list(inspect.signature(function).parameters), function.__name__)
    assert pickle.loads(pickle.dumps(function)) is function
print(torch.Tensor.backward.__get__, type(torch.optim.SGD.step), type(torch.nn.Module.__call__))
if hasattr(torch, "compile"):  # a compiled step is traced with all hooks, as one graph
    class Adds(torch.optim.Optimizer):
        def step(self):
            self.param_groups[0]["params"][0].add_(1)
    kept = torch.zeros(3)
    torch.compile(Adds([kept], {}).step, fullgraph=True, backend="eager")()
    print(kept)
try:
    torch.rand(2).backward()
except RuntimeError as error:
    print(error)
"""


def check_harmless():
    folder = scratch()
    results = []
    for preload in ({}, {"LD_PRELOAD": ""}):
        done = run([PYTHON, "-W", "ignore", "-c", HARMLESS], cwd=folder,
                   env=environment(DLPROF_OUT=os.path.join(folder, "run.db"), DLPROF_QUIET=1,
                                   **preload))
        equal(done.status, 0, "a training", done.err[-2000:])
        results.append([line.split(" at 0x")[0] for line in done.out.splitlines()])
    equal(results[0], results[1], "the same with and without")
    wait_for_drain(os.path.join(folder, "run.db"))
    equal(rows(os.path.join(folder, "run.db"), "SELECT COUNT(backward_ns) AS n FROM batch")[0]["n"],
          8, "and it was recorded")


def main():
    need_torch()
    need_shim()
    check_harmless()
    use_stub()
    check_direct()
    for name, text in LOOPS.items():
        database = check_loop(name, text)
        if name == "plain":
            check_report(database)
        if name == "validation":
            # Nothing of it ran in the steps of the other loader.
            equal(rows(database, "SELECT COUNT(before_ns) AS n FROM batch WHERE loader_id = 2")[0]
                  ["n"], 0, "a loop that does not train")
            saved = [row["save_ns"] for row in rows(
                database, "SELECT save_ns FROM epoch WHERE loader_id = 1 ORDER BY epoch")]
            check(saved[0] is None and saved[1] >= 20e6, "saved after an epoch", saved)
    # Before PyTorch 2.0 nobody tells of optimizers, so that what follows is known as one.
    for name, text, variables in (("older", "", {"TEST_OPTIMIZER_HOOKS": 0}),
                                  ("compiled", COMPILED, {}),
                                  ("one compiled", ONE_COMPILED, {})):
        slept, database = record(name, text + LOOPS["two backward passes, then two optimizers"],
                                 **variables)
        seen, step = rows(database, SUMS)[0], json.loads(report("--json", database).out)["step"]
        equal((seen["between"], seen["optimizer"]), (None, None), name, "no hooks", seen)
        equal((step["between"], step["optimizer"]), (None, None), name, "no hooks", step)
        said = " ".join(report(database).out.split())
        check("(the optimizer was not observed)" in said, name, said)
        # One of two, whose naps are never quite as long.
        check(slept["before"] * 0.35e9 <= seen["before"] < slept["before"] * 0.85e9, name,
              "the first forward pass alone", slept, seen)
    finish()


main()
