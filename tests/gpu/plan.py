# SPDX-License-Identifier: Apache-2.0
"""Runs all checks that need a GPU, in five steps of five minutes each, the most important first.

usage: plan.py [STEP...] [--double]. Without a driver it prints one line and returns 77. With --double the parts run on
the fakes and on the CPU, and checks that need a GPU fail. LIMIT_S: most seconds for a part. A part that is done is not
run again until $TEST_BUILD/gpu-results is removed. Each step writes one report, step-N.md, there and to $OUT.
"""
import ctypes
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.setdefault("TEST_BUILD", os.path.join(HERE, "..", "..", "build-gpu")))
RESULTS = os.path.join(BUILD, "gpu-results")
STATE = os.path.join(RESULTS, "done.json")
DOUBLE = "--double" in sys.argv
NO_DRIVER = 77
FACTS_ONLY = 3  # as in kit.py
LEFT_OUT = "left out"

# The parts of each step, the most important first: name of the table, seconds, script and arguments; * at the end:
# needs torch. Parts in brackets run at the same time, since they count things and measure no times.
STEPS = {
    "1": [("environment", 30, "environment.py"), ("bound", 130, "cost.py GPU-bound *"), ("soak", 100, "soak.py 80")],
    "2": [[("ends", 90, "others.py ends *"), ("starts", 90, "others.py starts *")],
          ("semantics", 100, "semantics.py durations replaced unsubscribed syncs graph correlation delivery "
           "forced streams copies fork ends late second refused"), ("launches", 45, "cost.py launch graph kernels")],
    "3": [("accuracy", 50, "accuracy.py cnn *"), ("compiled", 120, "accuracy.py graphs transformer compile *"),
          [("sessions", 80, "others.py profiler graphs *"),
           ("tools", 80, "others.py helpers older_library preset ranks tools *"), ("libraries", 80, "rates.py libraries *")]],
    "4": [("rates", 40, "rates.py buffers"), ("slow", 130, "rates.py slow side api *"),
          [("profiler", 70, "others.py asynchronous *"), ("host", 70, "others.py host *"),
           ("jax", 70, "others.py jax_alone jax *")], ("fed", 60, "cost.py input-bound *")],
    "5": [("pipeline", 120, "pipeline.py *"), ("cases", 90, "accuracy.py prefetch accumulation amp *")],
}


def missing():
    """Returns why nothing can run on this machine; "": it can."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        driver = None
    if not DOUBLE and (driver is None or driver.cuInit(0) != 0):
        return "no driver of CUDA works here: nothing was run"
    if not os.path.exists(os.path.join(BUILD, "tests", "gpu", "probe")):
        return "no prebuilt tree in {}: see tests/gpu/README.md".format(BUILD)
    return ""


def run_part(name, seconds, command):
    """Runs a part. Returns what became of it, and after how long; kit.py writes its table."""
    words = command.split()
    seconds = min(seconds, float(os.environ.get("LIMIT_S") or seconds))
    needs_torch = words[-1] == "*"
    if needs_torch and not importlib.util.find_spec("torch"):
        return LEFT_OUT + ": this Python has no torch"
    argv = [sys.executable, os.path.join(HERE, words[0])] + [w for w in words[1:] if w != "*"]
    env = dict(os.environ, LIMIT_S=str(seconds), OUT=RESULTS, TABLE=name)
    begin = time.monotonic()
    try:
        part = subprocess.Popen(argv + ["--double", "--cpu"] * DOUBLE, env=env, start_new_session=True)
        status = part.wait(seconds + 20)
        became = {0: "passed", FACTS_ONLY: "facts only, nothing judged"}.get(status, "failed")
    except subprocess.TimeoutExpired:
        os.killpg(part.pid, signal.SIGKILL)  # also its trainings, which would slow down the next part
        part.wait()
        became = "hung"
    return "{}, {:.0f} s".format(became, time.monotonic() - begin)


def side_by_side(entry):
    """Returns the parts of a step's entry as a list."""
    return entry if isinstance(entry, list) else [entry]


def parts_of(step):
    return [part for entry in STEPS[step] for part in side_by_side(entry)]


def report(step, done):
    """Writes a step's report: what became of each part, and the part's table."""
    lines = ["# Step {}".format(step), ""]
    for name, _, command in parts_of(step):
        lines.append("{} ({}): {}".format(name, command.rstrip(" *"), done.get(name, "not run")))
        path = os.path.join(RESULTS, name + ".md")
        if os.path.exists(path):
            with open(path) as file:
                lines += ["", file.read()]
    path = os.path.join(RESULTS, "step-{}.md".format(step))
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    out = os.environ.get("OUT")
    if out and os.path.abspath(out) != RESULTS:
        os.makedirs(out, exist_ok=True)
        shutil.copy(path, out)
    return path


def main():
    steps = [a for a in sys.argv[1:] if not a.startswith("--")] or sorted(STEPS)
    if not set(steps) <= set(STEPS):
        sys.exit("plan.py: the steps are {}".format(" ".join(sorted(STEPS))))
    why = missing()
    if why:
        print("plan.py: " + why)
        sys.exit(NO_DRIVER if "driver" in why else 2)
    os.makedirs(RESULTS, exist_ok=True)
    done = {}
    if os.path.exists(STATE):
        with open(STATE) as file:
            done = {name: became for name, became in json.load(file).items() if not became.startswith(LEFT_OUT)}
    for step in steps:
        begin = time.monotonic()
        for entry in STEPS[step]:
            parts = [part for part in side_by_side(entry) if part[0] not in done]
            if not parts:
                continue
            with ThreadPoolExecutor(len(parts)) as pool:
                done.update(zip((part[0] for part in parts), pool.map(lambda part: run_part(*part), parts)))
            with open(STATE + ".new", "w") as file:
                json.dump(done, file)
            os.replace(STATE + ".new", STATE)
            report(step, done)
        print("{}: {:.0f} s; {}".format(report(step, done), time.monotonic() - begin, "; ".join(
            "{} {}".format(name, done[name]) for name, _, _ in parts_of(step))))
    became = [done[name] for step in steps for name, _, _ in parts_of(step)]
    bad = [one for one in became if one.startswith(("failed", "hung"))]
    sys.exit(1 if bad else 0 if any(one.startswith("passed") for one in became) else FACTS_ONLY)


if __name__ == "__main__":
    main()
