# SPDX-License-Identifier: Apache-2.0
"""Which job a run is of, which attempt, and how many ranks there are: the same in all its ranks."""
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

PROGRAM = """
import ctypes
shim = ctypes.CDLL(None)
for i in range(30):
    shim.dlprof_batch_begin()
    shim.dlprof_batch_end(ctypes.c_int64(i))
"""
LAUNCHER = ("import os, subprocess, sys\n"
            "for rank in '0', '1':\n"
            "    subprocess.check_call(sys.argv[1:], env=dict(os.environ, RANK=rank))\n")


LABELS = ("cluster", "owner", "revision", "dataset", "storage")


def meta(folder, keys=("rank", "job_id", "attempt", "world_size")):
    found = []
    t.wait_for_drain(folder)
    for path in sorted(glob.glob(os.path.join(folder, "*.db"))):
        found.append({row["key"]: row["value"] for row in t.rows(
            path, "SELECT * FROM meta WHERE key IN {}".format(keys))})
    return found


def check_labels():
    """What many jobs are told apart by: as it is said, else as the environment has it."""
    told = {"USER": "ann", "SLURM_CLUSTER_NAME": "a100"}
    labels = "dataset=co co=2017,commit=1f3c,storage=nfs"
    t.equal(train(LABELS, **told), {"owner": "ann", "cluster": "a100"}, "nothing is said")
    t.equal(train(LABELS, DLPROF_LABELS=labels + ",user=bob,colour=red", **told),
            {"owner": "bob", "cluster": "a100", "dataset": "co co=2017", "revision": "1f3c",
             "storage": "nfs"}, "labels")
    for odd in ("", ",", "=", "a", "dataset", "=x", "dataset=", "\xff=\xff", "x" * 20000):
        found = train(LABELS, DLPROF_LABELS=odd, **told)
        t.equal((found["owner"], found.get("dataset", "")), ("ann", ""), odd[:20])


def check_line():
    """One line a job at exit: rank 0's, which says that there are others."""
    for variables, begin in (({"RANK": 0, "WORLD_SIZE": 16}, "dlprof: rank 0 of 16: 30 batches"),
                             ({"RANK": 8, "WORLD_SIZE": 16, "LOCAL_RANK": 0}, ""),
                             ({"RANK": 0, "WORLD_SIZE": 1}, "dlprof: 30 batches"),
                             ({"LOCAL_RANK": 1}, ""), ({"LOCAL_RANK": 0}, "dlprof: 30 batches")):
        folder = t.scratch()
        err = t.run([t.PYTHON, "-c", PROGRAM], cwd=folder, env=t.environment(**variables)).err
        t.check(err.startswith(begin) if begin else not err, variables, err)
        t.wait_for_drain(folder)


def train(keys=("rank", "job_id", "attempt", "world_size"), **variables):
    folder = t.scratch()
    done = t.run([t.PYTHON, "-c", PROGRAM],
                 env=t.environment(DLPROF_OUT=os.path.join(folder, "run.db"), **variables))
    t.equal(done.status, 0, done.err)
    return {key: str(value) for key, value in meta(folder, keys)[0].items()}


def launch(command, **variables):
    """Two ranks, of one launcher, which gives them no job id."""
    folder = t.scratch()
    done = t.run([sys.executable, "-c", LAUNCHER] + command + ["-c", PROGRAM],
                 env=t.environment(preload=False, WORLD_SIZE="2", DLPROF_QUIET="1",
                                   DLPROF_OUT=os.path.join(folder, "r%r.db"), **variables))
    t.equal(done.status, 0, done.err)
    return meta(folder)


def main():
    t.equal(train(), {"rank": "0"}, "a training by itself is no job's")
    t.equal(train(SLURM_JOB_ID="71", SLURM_RESTART_COUNT="2", SLURM_PROCID="3",
                  SLURM_STEP_NUM_TASKS="8"),
            {"rank": "3", "job_id": "71", "attempt": "2", "world_size": "8"}, "Slurm")
    t.equal(train(TORCHELASTIC_RUN_ID="run-7", TORCHELASTIC_RESTART_COUNT="1", RANK="1",
                  WORLD_SIZE="2"),
            {"rank": "1", "job_id": "run-7", "attempt": "1", "world_size": "2"}, "torchrun")
    t.equal(train(PMIX_NAMESPACE="prterun-9@1", OMPI_COMM_WORLD_RANK="0",
                  OMPI_COMM_WORLD_SIZE="4")["job_id"], "prterun-9@1", "Open MPI")
    t.equal(train(TORCHELASTIC_RUN_ID="none", RANK="1", WORLD_SIZE="2", MASTER_ADDR="a",
                  MASTER_PORT="29500", LOCAL_WORLD_SIZE="1")["job_id"], "a:29500", "several machines")
    run = [t.DLPROF, "run", t.PYTHON]
    for command in (run, run[:2] + ["--exec"] + run[2:]):
        first, second = launch(command, LOCAL_WORLD_SIZE="2", MASTER_ADDR="a", MASTER_PORT="1")
        t.equal((first["rank"], second["rank"]), ("0", "1"), first, second)
        t.equal(first["job_id"], second["job_id"], "of one launcher")
        other = launch(command)[0]
        t.check(other["job_id"] != first["job_id"], "of another launcher", other, first)
    check_line()
    check_labels()
    t.finish()


main()
