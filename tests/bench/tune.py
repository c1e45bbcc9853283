# SPDX-License-Identifier: Apache-2.0
"""What `dlprof tune` predicts, beside what it then proves: settings of different trainings.

usage: tune.py [NAME...] (of PLANS; default all, which takes 10 minutes of a machine that does nothing
else). A gain is inside if the measured one lies in the predicted range. in_order needs PyTorch 2.6:
TEST_VENV names a virtual environment with one, and its plan is left out without.
"""
import json
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import dlprof_test as t  # noqa: E402

# Plans of e2e/sleeper.py.
PLANS = {
    "sleep": dict(workers=1, load_s=0.06, step_s=0.02),
    "sleep, 3 workers": dict(workers=3, load_s=0.09, step_s=0.012),
    "jitter": dict(workers=3, load_s=0.05, step_s=0.014, cv=0.7),
    "head of line": dict(workers=4, load_s=0.02, step_s=0.012, slow_share=0.05, slow_factor=12),
    "in order": dict(workers=4, load_s=0.02, step_s=0.012, slow_share=0.05, slow_factor=12, venv=True),
    "no workers": dict(workers=0, load_s=0.02, step_s=0.012),
    "CPU": dict(workers=1, load_s=0.03, step_s=0.012, cpu_share=1),
    "half CPU": dict(workers=1, load_s=0.05, step_s=0.012, cpu_share=0.5),
    "too many": dict(workers=6, load_s=0.02, step_s=0.004, cpu_share=1),
    "starts of workers": dict(workers=2, load_s=0.015, step_s=0.012, batches=20, epochs=20, start_s=0.15),
    "short epochs": dict(workers=4, load_s=0.03, step_s=0.01, batches=16, epochs=25),
    "descriptors": dict(workers=2, load_s=0.001, step_s=0.03, cpu_share=1, batch_size=24, tensor_bytes=4096),
}
ROW = "{:20}{:26}{:>26}{:>26}{:>13}{:>8}"


def factor(gain, low, high):
    if gain is None:
        return "-"
    return "{:.2f}x ({:.2f} to {:.2f})".format(*(1 + (x or 0) for x in (gain, low, high)))


def tune(name, plan):
    """Each tried setting: (error of the prediction, whether it was inside)."""
    folder = t.scratch()
    plan, python = dict(dict(batches=400), **plan), t.PYTHON
    if plan.pop("venv", False):
        python = os.path.join(os.environ.get("TEST_VENV", "/nonexistent"), "bin", "python")
        if not os.path.exists(python):
            t.say(name, "TEST_VENV names no virtual environment")
            return
    is_real = python != t.PYTHON or plan.get("tensor_bytes")
    env = dict(PYTHONPATH=None if is_real else t.use_stub())
    done = t.run([t.DLPROF, "tune", "--json", "--rounds", "3", "--batches", "64", "-o", os.path.join(folder, "out"),
                  python, "-W", "ignore", os.path.join(HERE, "..", "e2e", "sleeper.py"),
                  os.path.join(folder, "log.json"), json.dumps(plan)],
                 env=t.environment(preload=False, **env), timeout=600)
    if not t.check(done.out, name, done.status, done.err[-500:]):
        return
    found = json.loads(done.out)
    if not found["tried"]:
        t.say(name, "nothing was tried:", found["not_predicted"], [(
            one["setting"], one["value"], one["why"]) for one in found["not_tried"]])
    for one in found["tried"]:
        told, real = one["predicted"], one["gain"]
        is_inside = None if told["gain"] is None or real is None else \
            told["ci95"][0] <= real <= told["ci95"][1]
        t.say(ROW.format(name, "{}={}".format(one["setting"], one["value"]),
                         factor(told["gain"], *(told["ci95"] or (None, None))),
                         factor(real, *(one["ci95"] or (None, None))), one["verdict"],
                         {True: "yes", False: "NO", None: "-"}[is_inside]))
        sys.stdout.flush()
        if is_inside is not None:
            yield (1 + told["gain"]) / (1 + real) - 1, is_inside


def main():
    t.need_shim()
    t.need_torch()
    t.say(ROW.format("training", "setting", "predicted", "real", "verdict", "inside"))
    begin, found = time.monotonic(), []
    for name in sys.argv[1:] or PLANS:
        found += tune(name, PLANS[name])
    if found:
        errors = sorted(abs(error) for error, _ in found)
        t.say("{} settings: {} inside; median |error| {:.1%}, worst {:.1%}; {:.0f} s; load average {:.1f}".format(
            len(found), sum(inside for _, inside in found), statistics.median(errors), errors[-1],
            time.monotonic() - begin, os.getloadavg()[0]))
    t.finish()


main()
