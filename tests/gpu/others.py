# SPDX-License-Identifier: Apache-2.0
"""Checks dlprof beside other users of CUPTI, in other frameworks, and with all ways to start and end processes.

usage: others.py [CHECK...] [--cpu]. Takes eight minutes.
"""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import (ARGUMENTS, CLIENT, HERE, PROBE, PYTHON, Table, left, probe_settings, rows, run, scratch,  # noqa
                 settings, wait_for_drain)
from accuracy import CPU, gpu_steps, median, traced_busy, train  # noqa: E402

SHORT = dict(steps=120, stall_every=0)
END_STEPS = 30 if CPU else 60
EXTRA_S = 2.0  # with dlprof, a program may take this much longer to end

JAX = """
import jax, sys, torch
from torch.utils.data import DataLoader
if jax.default_backend() != sys.argv[1]:
    sys.exit("jax has no " + sys.argv[1])
step = jax.jit(lambda w, x: w - 1e-4 * jax.grad(lambda w: ((x @ w) ** 2).mean())(w))
w = jax.numpy.ones((512, 512))
for x in DataLoader(torch.ones(1920, 512), batch_size=64):
    w = step(w, x.numpy()).block_until_ready()  # a step is known only if its kernels run within it
print(float(w.sum()))
"""

# Does not import torch, so that only JAX's own libcupti and libcudart are loaded.
JAX_ALONE = """
import jax, sys
if jax.default_backend() != sys.argv[1]:
    sys.exit("jax has no " + sys.argv[1])
step = jax.jit(lambda w: w @ w / 512)
w = jax.numpy.ones((512, 512))
for i in range(200):
    w = step(w)
print(float(w.sum()), "torch" in sys.modules)
"""


def meta(database):
    return {row["key"]: row["value"] for row in rows(database, "SELECT key, value FROM meta")}


def profiler(table, **more):
    """Runs torch.profiler on steps 40 to 60. It must get its kernels; dlprof must have a gap, and go on after it."""
    trace = os.path.join(scratch(), "trace.json")
    plan = dict(SHORT, profile=(10, 20) if CPU else (40, 60), trace=trace, **more)
    _, database, status, _ = train(plan)
    alone = os.path.join(scratch(), "trace.json")
    train(dict(plan, trace=alone), preload=False)
    table.row("torch.profiler under dlprof: exit status", status, 0, status == 0)
    # If CUPTI comes after a graph was made, it reports the graph's nodes that set or copy memory as kernels.
    found, true = traced_busy(trace), traced_busy(alone)
    table.row("torch.profiler: kernels in its trace, and with copies and memsets, with dlprof and without",
              "{} and {}".format(found[1:], true[1:]), "the sums equal", found[2] == true[2] > 0)
    gaps = rows(database, "SELECT * FROM gap ORDER BY begin_ns")
    table.row("torch.profiler: gaps in ours", [g["why"] for g in gaps], "1", len(gaps) == 1)
    steps = gpu_steps(database)
    before = median([r["gpu_busy_ns"] for r in steps if 15 <= r["batch"] < 35 and
                     r["gpu_busy_ns"] is not None])
    after = [r["gpu_busy_ns"] for r in steps if r["batch"] >= 90]
    known = [x for x in after if x is not None]
    table.row("torch.profiler: steps known again after it", "{} of {}".format(
        len(known), len(after)), "all but one", len(known) >= len(after) - 1 > 0)
    ratio = median(known) / before if known and before else 0
    table.row("torch.profiler: busy after it by before it", "{:.3f}".format(ratio), "0.95 to 1.05",
              0.95 < ratio < 1.05)


def graphs(table):
    """Does what profiler() does with a training that runs CUDA graphs."""
    profiler(table, compile="reduce-overhead")


def asynchronous(table):
    """torch.profiler begins and ends while kernels are queued. Its trace must have as many as without dlprof."""
    path, device = os.path.join(HERE, "profiler_async.py"), "cpu" if CPU else "cuda"
    for mode in "plain", "schedule":
        for steps in 3, 20:
            running = [subprocess.Popen([PYTHON, path, mode, str(steps), device], stdout=subprocess.PIPE, text=True,
                                        env=settings(preload=preload, double=False, DLPROF_ACTIVATE="always",
                                                     DLPROF_QUIET=1, DLPROF_OUT=os.path.join(scratch(), "run.db")))
                       for preload in (False, True, True)]
            said = [json.loads(process.communicate(timeout=120)[0] or "{}") for process in running]
            found = [one.get("launched") for one in said]
            what = "torch.profiler, {}, {} steps, work in flight: ".format(mode, steps)
            table.row(what + "kernels launched in its trace, without dlprof, and with", found, "equal",
                      found[0] == found[1] == found[2] and bool(found[0]))
            # Kernels that were queued when the profiler began are in dlprof's buffer; the profiler gets a copy.
            table.fact(what + "others", [one.get("kernels", 0) - one.get("launched", 0) for one in said])


def host(table):
    """Without CUPTI, dlprof counts calls of the CUDA runtime: compares these counts with CUPTI's in another run."""
    sums = []
    for library in None, "/nonexistent/libcupti.so":
        _, database, status, _ = train(SHORT, **({"DLPROF_LIBCUPTI": library} if library else {}))
        sums.append(rows(database, "SELECT COUNT(*) AS steps, SUM(kernel_count) AS kernels, "
                         "SUM(h2d_bytes) AS bytes FROM gpu_step WHERE step_ns NOT NULL")[0])
        table.fact("host: mode, reason", [meta(database).get(key) for key in ("cuda_mode", "cuda_reason")])
    table.row("host: bytes copied, by CUPTI and without", [found["bytes"] for found in sums], "equal, > 0",
              bool(sums[0]["bytes"]) and sums[0]["bytes"] == sums[1]["bytes"])
    table.fact("host: kernels, by CUPTI, and launches without", [found["kernels"] for found in sums])


def preset(table):
    """If another tool is injected, dlprof must leave CUPTI to it, and the tool must work."""
    out = os.path.join(scratch(), "client")
    _, database, status, _ = train(SHORT, CUDA_INJECTION64_PATH=CLIENT, CLIENT_OUT=out)
    with open(out) as file:
        kernels = sum(line.startswith("record 10 ") for line in file)
    table.row("another tool is injected: exit status, its kernels", (status, kernels), "0, many",
              status == 0 and kernels > 1000)
    table.row("another tool is injected: our mode", meta(database).get("cuda_mode"), "cudart",
              meta(database).get("cuda_mode") == "cudart")


def older_library(table):
    """With a toolkit's libcupti first in LD_LIBRARY_PATH, `import torch` must end as it does without dlprof."""
    folders = [f for f in ("/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64")
               if os.path.isdir(f)]
    results = []
    for preload in False, True:
        env = settings(preload=preload, double=False)
        env["LD_LIBRARY_PATH"] = ":".join(folders + [env["LD_LIBRARY_PATH"]])
        results.append(run([PYTHON, "-c", "import torch; print(torch.cuda.is_available())"],
                           env)[:2])
    table.row("a toolkit's libcupti first: import torch", results, "the same",
              results[0] == results[1] and results[0][0] == 0)


def tools(table):
    for tool, arguments in (("ncu", ["--launch-count", "2"]), ("compute-sanitizer", []),
                            ("nsys", ["profile", "-o", "/tmp/dlprof-others-nsys"])):
        if not shutil.which(tool):
            table.fact(tool, "missing")
            continue
        plan, found = json.dumps(dict(SHORT, steps=10, workers=0)), []
        for preload in False, True:
            env = settings(preload=preload, double=False, DLPROF_OUT=os.path.join(scratch(), "run.db"))
            found.append(run([tool] + arguments + [PYTHON, os.path.join(HERE, "training.py"), plan], env, 60))
        (bare, *_), (ours, out, err, _) = found
        table.row(tool + ": exit status without dlprof, and with", (bare, ours), "the same", bare == ours)
        if ours != bare:
            table.fact(tool + ": says", " / ".join((out + err).strip().splitlines()[-4:])[-500:])


def helpers(table):
    """Open MPI's daemon uses CUDA before the training does, and must not take the training's database."""
    database = os.path.join(scratch(), "run.db")
    daemon = os.path.join(scratch(), "orted")
    os.symlink(PROBE, daemon)
    env = probe_settings(preload=True, DLPROF_OUT=database)
    status = run([daemon, "launches", "1000"], env, 60)[0]
    table.row("a program named orted: exit status, a database", (status, os.path.exists(database)), "0, no",
              status == 0 and not os.path.exists(database))
    if not importlib.util.find_spec("mpi4py"):
        table.fact("importing mpi4py", "not here")
        return
    code = ("import mpi4py.MPI, sys\nsys.path.insert(0, {!r})\nimport training\ntraining.main()").format(HERE)
    plan = json.dumps(dict(SHORT, steps=40, device="cpu" if CPU else "cuda"))
    status = run([PYTHON, "-c", code, plan], settings(preload=True, double=False, DLPROF_OUT=database), 60)[0]
    wait_for_drain(database)
    count = rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"] if os.path.exists(database) else 0
    found = sorted(name for name in os.listdir(os.path.dirname(database)) if name.endswith(".db"))
    table.row("importing mpi4py: exit status, batches, databases", (status, count, found), "0, 40, run.db",
              (status, count, found) == (0, 40, ["run.db"]))


def both(function):
    """Returns the function's results without and with dlprof, called at once so that both meet the same load."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, (False, True)))


def starts(table):
    """Starts workers by each method of multiprocessing, while the parent already uses CUDA."""
    # Workers import this file, too, so all but the first process must skip the training: see __main__.
    code = ("import json, sys\n"
            "sys.path.insert(0, {!r})\n"
            "if __name__ == '__main__':\n"
            "    import multiprocessing, torch\n"
            "    multiprocessing.set_start_method(sys.argv[1])\n"
            "    torch.zeros(1, device=sys.argv[2])\n"
            "    sys.argv[1] = json.dumps(dict(steps=60, workers=8, stall_every=0,\n"
            "                                  device=sys.argv[2]{}))\n"
            "    import training\n"
            "    training.main()\n").format(HERE, ", batch=2, size=16" if CPU else "")
    path = os.path.join(scratch(), "starts.py")
    with open(path, "w") as file:
        file.write(code)
    for method in "forkserver", "fork", "spawn":  # forkserver first, as it often had no time left when last
        def start(preload):
            env = settings(preload=preload, double=False, PYTHONPATH=HERE,
                           DLPROF_OUT=os.path.join(scratch(), "run.db"))
            status, _, _, seconds = run([PYTHON, path, method, "cpu" if CPU else "cuda"], env, 180)
            return status, seconds
        (status_0, bare), (status_1, ours) = both(start)
        table.row("8 workers by {}: status; seconds without and with".format(method),
                  "{}, {}; {:.1f}, {:.1f}".format(status_0, status_1, bare, ours),
                  "0; + 10 % and {} s".format(EXTRA_S),
                  status_0 == status_1 == 0 and ours < 1.1 * bare + EXTRA_S)


def ends(table):
    # "fork" is 1: a forked child that calls exit() fails in PyTorch's own handlers, also without dlprof.
    wanted = {"term": -15, "kill": -9, "raise": 1, "fault": -11, "exit": 0, "fork": 1, "outlive": 0}
    for end, status in wanted.items():
        if left() < 15:
            table.row("end by {}: not reached".format(end), "", "", False)
            continue
        (_, _, bare_status, bare), (_, database, ours_status, ours) = both(
            lambda preload: train(dict(SHORT, steps=END_STEPS), preload=preload, TRAIN_END=end))
        batches = rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"]
        table.row("end by {}: status, seconds more, batches".format(end),
                  "{}, {:.1f}, {}".format(ours_status, ours - bare, batches),
                  "{}, < {}, >= {}".format(status, EXTRA_S, END_STEPS - 1),
                  ours_status == bare_status == status and ours < bare + EXTRA_S and
                  batches >= END_STEPS - 1)


def jax_alone(table):
    """Runs JAX without torch, so that only JAX itself loads CUDA's libraries."""
    backend = "cpu" if CPU else "gpu"
    if not importlib.util.find_spec("jax"):
        table.fact("jax alone", "not here")
        return
    database = os.path.join(scratch(), "run.db")
    bare = run([PYTHON, "-c", JAX_ALONE, backend], settings(double=False), 90)
    ours = run([PYTHON, "-c", JAX_ALONE, backend], settings(preload=True, double=False, DLPROF_OUT=database,
                                                            DLPROF_ACTIVATE="always"), 90)
    table.row("jax alone: status and result, without and with", (bare[:2], ours[:2]), "0, the same",
              bare[:2] == ours[:2] and bare[0] == 0)
    wait_for_drain(database)
    said = meta(database)
    table.row("jax alone: mode, records of CUPTI's", [said.get(key) for key in ("cuda_mode", "cuda_reason",
              "cuda_records")], "cupti, 200 or more", said.get("cuda_mode") == "cupti" and
              int(said.get("cuda_records") or 0) >= 200)


def jax(table):
    """A training in JAX must end as without dlprof, and its kernels must be counted."""
    backend = "cpu" if CPU else "gpu"
    bare = run([PYTHON, "-c", JAX, backend], settings(double=False), 90) \
        if importlib.util.find_spec("jax") else (1, "", "no jax")
    if "no jax" in bare[2] or "jax has no" in bare[2]:
        table.fact("jax", "not here: " + bare[2].strip().splitlines()[-1])
        return
    database = os.path.join(scratch(), "run.db")
    ours = run([PYTHON, "-c", JAX, backend],
               settings(preload=True, double=False, DLPROF_OUT=database), 90)
    table.row("jax: exit status and result, without and with", (bare[:2], ours[:2]), "0, the same",
              bare[:2] == ours[:2] and bare[0] == 0)
    wait_for_drain(database)
    steps = gpu_steps(database)
    kernels = sum(step["kernel_count"] or 0 for step in steps)
    table.row("jax: mode, steps, kernels", (meta(database).get("cuda_mode"), len(steps), kernels),
              "cupti, kernels in 30 steps", len(steps) >= 29 and kernels >= 29)


def ranks(table):
    """Runs two ranks on one GPU: each must get a database of its own."""
    folder = scratch()
    plan = dict(SHORT, steps=60, workers=1, device="cpu" if CPU else "cuda")
    plan = json.dumps(dict(plan, batch=2, size=16) if CPU else plan)
    running = [subprocess.Popen([PYTHON, os.path.join(HERE, "training.py"), plan],
                                stdout=subprocess.DEVNULL,
                                env=settings(preload=True, double=False, RANK=rank, WORLD_SIZE=2,
                                             DLPROF_OUT=os.path.join(folder, "rank-%r.db")))
               for rank in (0, 1)]
    statuses = [process.wait(timeout=200) for process in running]
    time.sleep(3)
    found = sorted(name for name in os.listdir(folder) if name.endswith(".db"))
    table.row("two ranks on one GPU: status, databases", "{}, {}".format(statuses, found),
              "0, one each", statuses == [0, 0] and found == ["rank-0.db", "rank-1.db"])


def main():
    table = Table("others")
    checks = (helpers, asynchronous, host, profiler, graphs, jax_alone, jax, preset, older_library, ranks, tools,
              starts, ends)
    table.each([(check.__name__, check, table) for check in checks
                if check.__name__ in (ARGUMENTS or [check.__name__])])


main()
