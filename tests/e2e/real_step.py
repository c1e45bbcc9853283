# SPDX-License-Identifier: Apache-2.0
"""The parts of the step in loops of the libraries that people train with: each is what was slept in it,
and weights and losses are the same with and without dlprof.

TEST_VENV names a virtual environment with torch and, for their loops, accelerate, lightning and
transformers. Optimizers of torch 1 have no hooks, so that only backward passes and what leads to the
first one are told. A loop whose numbers are off is run again: the machine may have been busy."""
import json
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

PYTHON = os.path.join(os.environ["TEST_VENV"], "bin", "python") if os.environ.get("TEST_VENV") else t.PYTHON
HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "real_step_host.py")
# The module that a loop needs.
KINDS = {"torch": "torch", "two": "torch", "validated": "torch", "ddp": "torch.distributed", "scaler": "torch",
         "lbfgs": "torch", "compiled": "torch.compiler", "inductor": "torch.compiler", "accelerate": "accelerate",
         "lightning": "lightning", "transformers": "transformers"}
ATTEMPTS, FIRST, COUNT, MOST_MISSED = 3, 6, 26, 0.01
PARTS = ["before", "backward", "between", "optimizer"]
# The last step of some has no end that is known.
SUMS = ("SELECT {}, COUNT(compute_ns) AS count, SUM(compute_ns) AS whole, MAX(before_ns + backward_ns"
        " + between_ns + optimizer_ns + save_ns - compute_ns) AS excess FROM batch"
        " WHERE batch >= {} AND compute_ns IS NOT NULL").format(
            ", ".join("SUM({0}_ns) AS '{0}'".format(part) for part in PARTS), FIRST)


def has(module):
    return subprocess.run([PYTHON, "-c", "import " + module], env=t.environment(False),
                          stderr=subprocess.DEVNULL).returncode == 0


def start_second(kind, folder, database, ranks):
    """Starts rank 1 of a kind that has two ranks, with a database of its own."""
    return kind == "ddp" and subprocess.Popen(
        [PYTHON, "-W", "ignore", HOST, kind], cwd=folder, stdout=subprocess.DEVNULL,
        env=t.environment(bool(database), DLPROF_OUT=database and database + ".1", DLPROF_QUIET=1, RANK=1, **ranks))


def host(kind, folder, database=None):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        ranks = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free.getsockname()[1], "WORLD_SIZE": 2}
    second = start_second(kind, folder, database, ranks)
    done = t.run([PYTHON, "-W", "ignore", HOST, kind], cwd=folder, timeout=200,
                 env=t.environment(bool(database), DLPROF_OUT=database, DLPROF_QUIET=1, RANK=0,
                                   **(ranks if second else {})))
    t.equal(second and second.wait(60), 0 if second else False, kind, "the second rank's status")
    if not t.equal(done.status, 0, kind, done.err[-2000:]):
        t.finish()
    lines = dict(line.split(" ", 1) for line in done.out.splitlines()
                 if line.startswith(("SLEPT", "DIGEST")))
    return json.loads(lines["SLEPT"]), lines["DIGEST"]


def misses(slept, seen, parts):
    """Returns by how much each part's share of the steps differs from what was slept in it.

    The loop's own work is short. A validation loop comes after the optimizer, but is no part of the steps' sum."""
    counted = seen["count"] / (COUNT - FIRST)
    for part in parts:
        found = seen[part] if part != "after" else seen["whole"] - sum(seen[each] for each in PARTS)
        planted = slept[part] + (slept["other"] if part == "after" else 0)
        yield part, found / seen["whole"] - planted * 1e9 * counted / seen["whole"]


def check_kind(kind, has_hooks):
    parts = PARTS + ["after"] if has_hooks else ["before", "backward"][kind == "lbfgs":]
    _, bare = host(kind, t.scratch())
    for _ in range(ATTEMPTS):
        folder = t.scratch()
        database = os.path.join(folder, "run.db")
        slept, digest = host(kind, folder, database)
        t.equal(digest, bare, kind, "weights and losses")
        t.wait_for_drain(database)
        seen = t.rows(database, SUMS)[0]
        found = dict(misses(slept, seen, parts))
        t.say(kind, {part: round(100 * miss, 2) for part, miss in found.items()}, "points")
        if max(map(abs, found.values())) <= MOST_MISSED:
            break
    t.check(max(map(abs, found.values())) <= MOST_MISSED, kind, found)
    t.check(seen["count"] >= COUNT - FIRST - 1, kind, seen)
    step = json.loads(t.report("--json", database).out)["step"]
    if not has_hooks:
        t.equal((seen["optimizer"], step["optimizer"]), (None, None), kind, "no hooks", seen, step)
        return
    t.check(seen["excess"] <= 0, kind, seen)
    whole = sum(step[part] for part in PARTS + ["save", "other_loops", "after"])
    t.check(abs(whole - 1) < 1e-6, kind, "the parts sum to the step", step)


def check_one_compiled():
    """A compiled step() calls no hook, so that its time is in no part that is told."""
    database = os.path.join(t.scratch(), "run.db")
    slept, digest = host("one_compiled", os.path.dirname(database), database)
    t.equal(digest, host("one_compiled", t.scratch())[1], "one compiled", "weights and losses")
    t.wait_for_drain(database)
    seen = t.rows(database, SUMS)[0]
    t.equal((seen["between"], seen["optimizer"]), (None, None), "one compiled", seen)
    t.check(seen["before"] < 0.1 * seen["whole"], "what leads to the first backward pass alone", seen)


def main():
    t.need_shim()
    if not has("torch"):
        t.skip("no PyTorch")
    has_hooks = has("torch.optim.optimizer as it; it.register_optimizer_step_pre_hook")
    for kind, module in KINDS.items():
        if has(module):
            check_kind(kind, has_hooks)
        else:
            t.say(PYTHON, "has no", module)
    if has(KINDS["compiled"]):
        check_one_compiled()
    t.finish()


main()
