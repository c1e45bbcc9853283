# SPDX-License-Identifier: Apache-2.0
"""MXNet Gluon and PaddlePaddle as users have them: each batch has its load, and planted flaws are found.

TEST_MXNET names the folder of a virtual environment with mxnet 1.9.1 (of CPython 3.8, numpy below 1.24),
TEST_PADDLE one with paddlepaddle 3; both are too large to fetch for a test.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "real_crews_host.py")
FOREIGN = {"mxnet": ("prefetch_factor", "in_order", "persistent_workers", "collate_fn", "worker_init_fn", "torch"),
           "paddle": ("in_order", "torch")}
KINDS = {"mxnet": ("mxnet.gluon", "mxnet.gluon (threads)"), "paddle": ("paddle.io", "paddle.io (iterable)")}
# What is planted, options, causes of which the first is one, and the first steps that may be said.
PLANTED = {
    "sleep": ({}, ("loader_capacity",), ("more_loader_capacity",)),
    "storage": ({}, ("loader_capacity",), ("storage_bound", "more_loader_capacity")),
    "sample": ({}, ("slow_samples", "isolated_stall", "head_of_line", "intermittent_loader"), None),
}
ONLY = {
    "mxnet": {"threads": ({"thread_pool": 1}, ("loader_capacity",), ("more_loader_capacity",)),
              "locked": ({"thread_pool": 1}, ("loader_capacity",), ("move_out_of_process",)),
              "alone": ({"num_workers": 0}, ("single_process",), ("use_workers",))},
    # Where its workers persist, it sleeps half a second before each epoch but the first.
    "paddle": {"persistent": ({"persistent_workers": 1}, ("loader_capacity", "epoch_start"), None),
               "alone": ({"num_workers": 0}, ("loader_capacity",), ("more_loader_capacity",)),
               "stream": ({"stream": 1}, ("loader_capacity",), ("more_loader_capacity",)),
               "distributed": ({"distributed": 1}, ("loader_capacity",), ("more_loader_capacity",))},
}
# Of these, what is promised is tried.
FOLLOWED = "sleep", "threads", "locked", "alone", "stream", "distributed"


def host(framework, folder, kind, options, database=None):
    python = os.path.join(os.environ["TEST_" + framework.upper()], "bin", "python")
    env = t.environment(bool(database), DLPROF_OUT=database, DLPROF_QUIET=1, SLOW_US=15000)
    if kind == "storage":
        env["LD_PRELOAD"] = (env.get("LD_PRELOAD", "") + " " + os.environ["SLOW_READS"]).strip()
    flaw = kind if kind in PLANTED or kind in ("make", "locked") else "sleep"
    done = t.run([python, HOST, framework, folder, flaw] + ["%s=%d" % option for option in options.items()],
                 timeout=300, env=env)
    t.equal(done.status, 0, framework, kind, "exit status", done.err[-1000:])
    if database:
        t.wait_for_drain(database)
    lines = [line.split() for line in done.out.splitlines()]
    digest = [line[1:] for line in lines if line[0] == "DIGEST"]
    times = [(float(line[1]), float(line[2])) for line in lines if line[0] == "TIME"]
    samples = [tuple(map(int, line[1:])) for line in lines if line[0] == "SAMPLE"]
    return digest, times[0] if times else None, samples


def check_loads(framework, kind, database, samples, batches):
    found = t.rows(database, "SELECT batch.batch, load.pid, load.begin_ns, load.load_ns FROM batch"
                             " LEFT JOIN load USING (loader_id, epoch, batch)")
    t.check(len(found) == batches, framework, kind, "batches", len(found))
    joined = 0
    for row in found:
        # Which samples a batch of a stream or of a rank has, is not for us to say.
        first = None if kind in ("stream", "distributed") else 4 * row["batch"]
        joined += row["load_ns"] is not None and any(
            first in (None, number) and pid == row["pid"] and
            row["begin_ns"] <= begin <= end <= row["begin_ns"] + row["load_ns"] for number, pid, begin, end in samples)
    t.equal(joined, len(found), framework, kind, "batches with their own load")


def check(framework, folder, kind, flaw):
    options, causes, steps = flaw
    options = dict({"num_workers": 2}, **options)
    database = os.path.join(t.scratch(), "run.db")
    digest, times, samples = host(framework, folder, kind, options, database)
    plain, alone, _ = host(framework, folder, kind, options)
    t.equal(digest, plain, framework, kind, "what came out")
    check_loads(framework, kind, database, samples, 48 if kind == "distributed" else 96)
    found = json.loads(t.report("--json", database).out)
    ratio = times[0] / times[1]
    t.say(framework, kind, found["cause"], found["verdict"], "ratio", found["stall"]["ratio"], "stopwatch", ratio,
          [(step["id"], step["text"], step["gain"], step["ci95"]) for step in found["advice"]])
    t.say(t.report(database).out)
    t.check(t.rows(database, "SELECT kind FROM loader")[0]["kind"] in KINDS[framework], framework, kind, "loader")
    t.check(abs(found["stall"]["ratio"] - ratio) < .05, framework, kind, "stall ratio", found["stall"], times)
    t.check(found["cause"] in causes, framework, kind, found["cause"])
    if steps:
        t.check(found["advice"][0]["id"] in steps, framework, kind, "first step", found["advice"])
    text = json.dumps(found["advice"]) + t.report("-v", database).out
    for word in FOREIGN[framework]:
        t.check(word not in text, framework, kind, "speaks of", word, text)
    if kind in FOLLOWED:
        follow(framework, folder, kind, options, found, alone)


def follow(framework, folder, kind, options, found, before):
    if kind == "locked":
        more, processes = (host(framework, folder, kind, dict(options, **change))[1][1]
                           for change in ({"num_workers": 4}, {"thread_pool": 0}))
        t.say(framework, kind, "followed:", before[1] / processes, "times as fast, more threads:", before[1] / more)
        t.check(before[1] / processes > 1.4 > 1.2 > before[1] / more, framework, kind, "gain", before, processes, more)
        return
    step = [step for step in found["advice"] if "workers" in step["text"].lower()][0]
    workers = int("".join(c for c in step["text"].split("workers")[-1 if "in all" in step["text"] else 0]
                          if c.isdigit()))
    _, after, _ = host(framework, folder, kind, dict(options, num_workers=workers))
    gain = before[1] / after[1] - 1
    t.say(framework, kind, "followed:", step["text"], "promised", step["gain"], step["ci95"], "measured", gain)
    t.check(gain > .5 * step["gain"], framework, kind, "gain", gain, "promised", step["gain"])


def main():
    t.need_shim()
    frameworks = [name for name in KINDS if os.environ.get("TEST_" + name.upper())]
    if not frameworks:
        t.skip("neither TEST_MXNET nor TEST_PADDLE names a virtual environment")
    for framework in frameworks:
        folder = t.scratch()
        host(framework, folder, "make", {})
        for kind, flaw in dict(PLANTED, **ONLY[framework]).items():
            if kind in sys.argv[1:] or not sys.argv[1:]:
                check(framework, folder, kind, flaw)
    t.finish()


main()
