# SPDX-License-Identifier: Apache-2.0
"""A kernel counts for the part of the step that launched it, whenever it ran, and the GPU's idle time for
the part in which the host was meanwhile.

usage: parts.py. The test program names each kernel after the part that launches it.
"""
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu import HERE, MS, busy, check, equal, finish, need_shim, report, say, scratch, skip, start, union  # noqa
import stub  # noqa: E402

PARTS = ("before", "backward", "between", "optimizer", "after")
# {name: {part: [kernels that it launches, milliseconds that it sleeps]}}; a kernel takes 0.4 ms.
CASES = {
    # The host runs ahead: the kernels of a part run during later parts and in the next step.
    "ahead": dict(before=[10, 1], backward=[20, 1], between=[2, 0], optimizer=[6, 0], after=[0, 2]),
    "idle-after": dict(before=[5, 0], backward=[5, 0], between=[0, 0], optimizer=[2, 0], after=[0, 30]),
    "idle-before": dict(before=[1, 25], backward=[5, 0], between=[0, 0], optimizer=[2, 0], after=[0, 6]),
    "spread": dict(before=[1, 12], backward=[1, 12], between=[1, 0], optimizer=[1, 0], after=[0, 10]),
    # Two backward passes in a step: then "before" and "backward" are no single spans, and no parts are stored.
    "twice": dict(before=[2, 3], backward=[2, 3], between=[0, 0], optimizer=[2, 0], after=[0, 3], passes=2),
}
LACK = {"idle-after": "after", "idle-before": "before"}


def run_case(name, level="api"):
    folder = scratch()
    torch = stub.make(folder)
    if not torch:
        skip("no installed torch to take the DataLoader from")
    done = start(["/usr/bin/python3", "-W", "ignore", os.path.join(HERE, "parts_host.py"),
                  json.dumps(dict(CASES[name], batches=40))], folder=folder, TEST_STUB=torch, DLPROF_CUDA=level)
    equal((done.status, done.misuse()), (0, []), name, "status, misuse", done.err[-2000:])
    return done, done.query("SELECT * FROM gpu_part p ORDER BY begin_ns")


def check_idle(name, done, rows):
    """Compares each part's idle time, over all steps but the first, with the fake device's operations."""
    for part in PARTS:
        spans = [line for line in done.lines if line["part"] == part and line["step"] > 0]
        true = sum(line["end"] - line["begin"] - union(busy(done.ops), line["begin"], line["end"]) for line in spans)
        found = sum(row["idle_{}_ns".format(part)] for row in rows[1:])
        # Python itself takes time between the parts, which counts for one of them.
        check(-0.5 * MS < found - true < 1.5 * MS * len(spans), name, "idle", part, found / MS, true / MS)
        say(name, "{}: idle {:.1f} of {:.1f} ms".format(part, found / MS, true / MS))


def lacks(done):
    """The parts that the report may name as the one in which the GPU idled, by the fake device's operations.

    There is more than one near a limit of the rule, or where it matters whether the first step counts.
    """
    answers = set()
    for first in 0, 1:
        lines = [line for line in done.lines if line["step"] >= first]
        idle = {part: sum(line["end"] - line["begin"] - union(busy(done.ops), line["begin"], line["end"])
                          for line in lines if line["part"] == part) for part in PARTS}
        share = sum(idle.values()) / (max(line["end"] for line in lines) - min(line["begin"] for line in lines))
        most = max(PARTS, key=idle.get)
        for scale in 0.9, 1.1:
            answers.add(most if scale * share >= 0.3 and scale * idle[most] > 0.5 * sum(idle.values()) else None)
    return answers


def check_case(name):
    done, rows = run_case(name)
    equal(len(rows), 40, name, "rows")
    if name == "twice":
        equal({row[kind + part + "_ns"] for row in rows for kind in ("idle_", "launched_") for part in PARTS}, {None},
              name, "has no parts")
        return
    for part in PARTS:
        kernels = [op for op in busy(done.ops) if op.name == part]
        found, true = sum(row["launched_{}_ns".format(part)] for row in rows), union(kernels)
        elsewhere = sum(union(kernels, line["begin"], line["end"]) for line in done.lines if line["part"] != part)
        check(abs(found - true) <= len(kernels), name, "launched", part, found, true)  # each is rounded
        say(name, "{}: launched {:.1f} of {:.1f} ms, of which {:.1f} ran in other parts".format(
            part, found / MS, true / MS, elsewhere / MS))
    check_idle(name, done, rows)
    said = json.loads(report("--json", done.database).out)["gpu"]
    answers = lacks(done)
    check(said["lack_part"] in answers, name, "lacks", said["lack_part"], answers, said["lack"], said["lack_share"], said["parts"])
    if answers != {LACK.get(name)}:
        say(name, "the host stood still: the device idled in {} instead of {}".format(answers, LACK.get(name)))
    equal([part["name"] for part in said["parts"]], list(PARTS), name, "JSON")


def check_level(name):
    """At level `default` it is not known which part launched a kernel, but the idle times are there."""
    done, rows = run_case(name, "default")
    equal({row["launched_{}_ns".format(part)] for row in rows for part in PARTS}, {None}, name, "launched")
    check_idle(name + " by default", done, rows)


def main():
    need_shim()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(check_case, name) for name in CASES] + [pool.submit(check_level, "idle-after")]
        for job in jobs:
            job.result()
    finish()


main()
