# SPDX-License-Identifier: Apache-2.0
"""DALI as users have it, on the CPU: planted flaws are found, and what it makes is the same.

TEST_DALI names the folder of a virtual environment with nvidia-dali-cuda120 (1.30 or newer), numpy and Pillow,
which is too large to fetch for a test.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "real_dali_host.py")
# The cause, what is waited for, and in which steps it is said how.
PLANTED = {
    "blur": ("slow_stage", "GaussianBlur", ("parallel_stage", "cheaper_stage")),
    # Filling a buffer takes the reader as long as the operators need in all, but once.
    "filled": ("slow_stage", "GaussianBlur", ("parallel_stage", "cheaper_stage")),
    "slow": ("serial_stage", "ReadOne", ("parallel_stage",)),
    # The operators hardly wait for the reader, which is busy all the time.
    "near": ("serial_stage", "ReadOne", ("parallel_stage",)),
    "source": ("slow_stage", "PopOutputs", ("parallel_stage",)),
}
FOLLOWED = {"near": ("near_two", 1.3)}
SLOW_US = {"slow": 20000, "near": 12000, "near_two": 12000, "filled": 1500}
FOREIGN = ("tf.data", "private_threadpool_size", "num_parallel_calls", "DataLoader", "num_workers")


def host(folder, kind, database=None):
    python = os.path.join(os.environ["TEST_DALI"], "bin", "python")
    env = t.environment(bool(database), DLPROF_OUT=database, DLPROF_QUIET=1, SLOW_US=SLOW_US.get(kind, 0))
    if kind in SLOW_US:
        env["LD_PRELOAD"] = (env.get("LD_PRELOAD", "") + " " + os.environ["SLOW_READS"]).strip()
    done = t.run([python, HOST, folder, kind], timeout=300, env=env)
    t.equal(done.status, 0, kind, "exit status", done.err[-1000:])
    if database:
        t.wait_for_drain(database)
    return done.out.split()


def check(folder, kind):
    cause, waited_for, steps = PLANTED[kind]
    database = os.path.join(t.scratch(), "run.db")
    plain = host(folder, kind)
    t.equal(host(folder, kind, database)[:1], plain[:1], kind, "what came out")
    found = json.loads(t.report("--json", database).out)
    stages = {stage["name"]: stage for stage in found["stages"]}
    waits = sum(row["wait_ns"] for row in t.rows(database, "SELECT wait_ns FROM batch")) / 1e9
    t.say(kind, found["cause"], [(step["id"], step["gain"], step["ci95"]) for step in found["advice"]], "waits", waits,
          "PopOutputs", stages["PopOutputs"]["busy_s"])
    t.equal(found["cause"], cause, kind)
    items = [line.split()[0] for line in t.report(database).out.splitlines() if line.strip()]
    if cause == "serial_stage":
        t.check("Line" not in items, kind, "a line of the training, which only asks", items)
    if kind == "source":
        t.check("Beside" not in items, kind, "operators that hardly run", items)
    t.check(stages[waited_for]["waited_for"], kind, "waited for", waited_for, found["stages"])
    t.check(found["advice"][0]["id"] in steps, kind, "first step", found["advice"])
    for step in found["advice"]:
        for word in FOREIGN:
            t.check(word not in step["text"] + step["how"].replace("py_num_workers", ""), kind, "speaks of", word, step)
    if kind in FOLLOWED:
        other, factor = FOLLOWED[kind]
        gain = float(plain[1]) / float(host(folder, other)[1])
        t.say(kind, "followed:", gain, "times as fast")
        t.check(gain >= factor, kind, "what is advised helps", gain)
    if kind == "filled":
        t.check(stages["DataReader"]["busy_s"] < 0.7 * stages["GaussianBlur"]["own_s"], kind, "start-up", found["stages"])
    elif kind != "source":
        popped = t.rows(database, "SELECT SUM(busy_ns) AS ns FROM stage WHERE name = 'PopOutputs'")[0]["ns"] / 1e9
        t.check(abs(waits - popped) < 0.05 * waits, kind, "sums of waits", waits, popped)


def main():
    t.need_shim()
    if not os.environ.get("TEST_DALI"):
        t.skip("TEST_DALI names no virtual environment with DALI")
    folder = t.scratch()
    host(folder, "make")
    for kind in sys.argv[1:] or PLANTED:
        check(folder, kind)
    t.finish()


main()
