# SPDX-License-Identifier: Apache-2.0
"""tf.data and Keras as users have them: planted flaws are found, what is advised helps, and nothing changes.

TEST_TENSORFLOW names the folder of a virtual environment with a TensorFlow (tensorflow-cpu, 2.10 or newer), which
is too large to fetch for a test. TEST_ITERATORS: how many iterators come and go.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "real_tensorflow_host.py")
SLOW_US = 8000
SLOW = ("reads", "reads_own", "records", "records_four")
# The cause, the stage or kernel that leads, its least share of them all, and the first step.
PLANTED = {
    "reads": ("narrow_pool", "ReadFile", 0.7, "own_threads"),
    "records": ("serial_stage", "TFRecord", 0.7, "parallel_stage"),
    "hues": ("slow_stage", "AdjustHue", 0.6, "cheaper_stage"),
    "python": ("slow_stage", "PyFunc", 0.9, "cheaper_stage"),
    "asleep": ("narrow_pool", "EagerPyFunc", 0.9, "own_threads"),
    "generator": ("serial_stage", "Generator", 0.5, "parallel_stage"),
    "generators": ("serial_stage", "Generator", 0.5, "parallel_stage"),
    "unhurried": ("no_prefetch", "Generator", 0.5, "add_prefetch"),
    "tiny": ("slow_stage", "MapAndBatch", 0.5, "cheaper_stage"),
    "cache": ("slow_stage", "AdjustHue", 0.6, "fill_cache"),
    "cache_anew": ("slow_stage", "AdjustHue", 0.6, "fill_cache"),
    "cache_whole": ("filling_cache", "AdjustHue", 0.6, "keep_cache"),
}
FOLLOWED = {"reads": ("reads_own", 1.3), "records": ("records_four", 1.8), "cache": ("cache_whole", 1.2),
            "cache_anew": ("cache_whole", 1.2),
            "asleep": ("asleep_wide", 2.5), "generators": ("generators_four", 1.8),
            "unhurried": ("unhurried_ahead", 1.3), "tiny": ("tiny_whole", 1.3)}
OF_TRAINING = ("MatMul", "BiasAdd", "AssignSubVariableOp", "ReadVariableOp")
SUM_TOLERANCE = 0.05
CALL_S = 0.002  # Python and TensorFlow around the root, a batch


def host(folder, kind, database=None, more=(), **changes):
    python = os.path.join(os.environ["TEST_TENSORFLOW"], "bin", "python")
    env = t.environment(bool(database), DLPROF_OUT=database, DLPROF_QUIET=1, SLOW_US=SLOW_US, **changes)
    if kind in SLOW:
        env["LD_PRELOAD"] = (env.get("LD_PRELOAD", "") + " " + os.environ["SLOW_READS"]).strip()
    done = t.run([python, HOST, folder, kind] + list(more), timeout=300, env=env)
    t.equal(done.status, 0, kind, "exit status", done.err[-1000:])
    if database:
        t.wait_for_drain(database)
    return json.loads(done.out) if done.out else {}


def check_planted(folder, kind):
    cause, lead, least, step = PLANTED[kind]
    database = os.path.join(t.scratch(), "run.db")
    ours, plain = host(folder, kind, database), host(folder, kind)
    t.equal((ours["batches"], ours["digest"]), (plain["batches"], plain["digest"]), kind, "what was loaded")
    found = json.loads(t.report("--json", database).out)
    stages = {stage["name"]: stage for stage in found["stages"]}
    waits = sum(row["wait_ns"] for row in t.rows(database, "SELECT wait_ns FROM batch")) / 1e9
    t.say(kind, "cause", found["cause"], "first step", found["advice"][0]["id"], found["advice"][0]["gain"],
          found["advice"][0]["ci95"], "waits", waits, "root", stages["Root"]["busy_s"], "script",
          ours["waited_s"])
    t.equal((found["cause"], found["advice"][0]["id"]), (cause, step), kind)
    t.check(stages[lead]["waited_for"], kind, "waited for", lead, found["stages"])
    share = stages[lead]["share"] if stages[lead]["kernel"] else stages[lead]["busy_s"] / stages["Root"]["busy_s"]
    t.check(share >= least, kind, "share of", lead, stages[lead])
    t.check(abs(waits - stages["Root"]["busy_s"]) <= SUM_TOLERANCE * waits + CALL_S * ours["batches"], kind, "sums of waits", waits,
            stages["Root"]["busy_s"])
    if lead == "ReadFile":
        t.check(stages[lead]["cpu_s"] < 0.1 * stages[lead]["own_s"], "reading is no computing", stages[lead])
        t.check(stages["MapAndBatch"]["asked"] == 8 and stages["Root"]["threads"] >= 1, "asked", stages)
    if kind in FOLLOWED:
        other, factor = FOLLOWED[kind]
        better = host(folder, other)
        t.say(kind, "followed:", ours["s"] / better["s"], "times as fast; foreseen",
              1 + found["advice"][0]["gain"], found["advice"][0]["ci95"])
        t.equal(better["digest"], plain["digest"], kind, "what is loaded when it is followed")
        t.check(plain["s"] / better["s"] >= factor, kind, "what is advised helps", plain["s"], better["s"])


def check_fit(folder):
    """Of Keras' fit() the pipeline's kernels alone are stages."""
    database = os.path.join(t.scratch(), "run.db")
    host(folder, "fit", database)
    names = {row["name"] for row in t.rows(database, "SELECT name FROM stage")}
    t.check({"Root", "DecodeJpeg", "ReadFile"} <= names, "fit", names)
    t.equal(sorted(names & set(OF_TRAINING)), [], "the training's own kernels")


def check_profiled(folder):
    """TensorFlow's own profiler, meanwhile: what is loaded is the same, and both see the stages."""
    database, profile = os.path.join(t.scratch(), "run.db"), t.scratch()
    ours = host(folder, "profiled", database, [profile])
    t.equal(ours["digest"], host(folder, "plain")["digest"], "profiled, what was loaded")
    traces = [name for _, _, names in os.walk(profile) for name in names if name.endswith(".xplane.pb")]
    t.check(traces, "profiled, no trace of the profiler's")
    elements = {row["name"]: row["elements"] for row in
                t.rows(database, "SELECT name, SUM(elements) AS elements FROM stage GROUP BY name")}
    t.equal(elements.get("DecodeJpeg"), 480, "profiled, kernels", elements)


def check_many(folder):
    database = os.path.join(t.scratch(), "run.db")
    t.equal(host(folder, "many", database), host(folder, "many"), "many iterators")
    found = t.rows(database, "SELECT name, SUM(elements) AS elements, COUNT(DISTINCT stage) AS stages"
                             " FROM stage GROUP BY name")
    elements = {row["name"]: row["elements"] for row in found}
    t.say("many", elements)
    t.equal({row["name"]: row["stages"] for row in found}, dict.fromkeys(elements, 1), "stages, in each pass")
    t.check(len(elements) < 20, "stages of one pipeline", sorted(elements))
    t.check(elements["Root"] <= 6 * int(os.environ.get("TEST_ITERATORS", 1000)), "batches", elements)
    t.check(0.9 * elements["Root"] <= elements["Prefetch"] <= 1.1 * elements["Root"], "elements", elements)


def main():
    t.need_shim()
    if not os.environ.get("TEST_TENSORFLOW"):
        t.skip("TEST_TENSORFLOW names no virtual environment with a TensorFlow")
    folder = t.scratch()
    host(folder, "make")
    kinds = sys.argv[1:] or list(PLANTED) + ["fit", "profiled", "many"]
    for kind in kinds:
        if kind == "fit":
            check_fit(folder)
        elif kind == "profiled":
            check_profiled(folder)
        elif kind == "many":
            check_many(folder)
        else:
            check_planted(folder, kind)
    t.finish()


main()
