# SPDX-License-Identifier: Apache-2.0
"""Tests plan.py without a GPU: it must say that there is none, and must not repeat parts that are done.

TEST_GPU_PLAN=full: also starts each part of the plan.
"""
import ast
import glob
import importlib.util
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import dlprof_test as t  # noqa: E402


def plan(*arguments, **changes):
    done = subprocess.run([sys.executable, os.path.join(HERE, "plan.py")] + list(arguments), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=dict(os.environ, **changes), timeout=250)
    return done.returncode, done.stdout.decode()


def check_scripts():
    sys.path.insert(0, HERE)
    import plan as module
    for path in glob.glob(os.path.join(HERE, "*.py")):
        with open(path) as file:
            ast.parse(file.read(), path)
    first = 0
    for step, entries in module.STEPS.items():
        longest = sum(max(seconds for _, seconds, _ in module.side_by_side(entry)) for entry in entries)
        t.check(longest <= 310, "step", step, "takes more than five minutes")
        first += longest if step <= "3" else 0
        for name, _, command in module.parts_of(step):
            script, *checks = command.split()
            with open(os.path.join(HERE, script)) as file:
                text = file.read()
            for check in checks:
                known = '(def {0}\\(|"{0}": |^[A-Z]+ = "[^"]*\\b{0})'.format(check)
                t.check(check == "*" or check.isdigit() or re.search(known, text, re.M), name, "asks", script, "for", check)
    t.check(first <= 750, "with a machine's start, the first three steps take more than 15 minutes:", first)
    names = [name for step in module.STEPS for name, _, _ in module.parts_of(step)]
    t.equal(len(names), len(set(names)), "names are of one part each")


def check_no_driver():
    status, out = plan(LD_LIBRARY_PATH="", TEST_BUILD=t.scratch())
    t.equal((status, out.count("\n")), (77, 1), "without a driver", out)
    for script in "environment", "rates", "cost", "semantics", "accuracy", "others", "pipeline", "soak":
        done = subprocess.run([sys.executable, os.path.join(HERE, script + ".py")], stdout=subprocess.PIPE, cwd=t.scratch(),
                              stderr=subprocess.STDOUT, env=dict(os.environ, LD_LIBRARY_PATH="", OUT=t.scratch()), timeout=60)
        t.equal((done.returncode, done.stdout.decode()),
                (77, script + ".py: no driver of CUDA works here: nothing was run\n"), script)


def is_running(pid):
    try:
        with open("/proc/{}/stat".format(pid)) as file:
            return file.read().split()[2] != "Z"
    except OSError:
        return False


def check_hung():
    """A part that hangs must be killed together with the processes that it started."""
    import plan as module
    path = os.path.join(t.scratch(), "hangs.py")
    with open(path, "w") as file:
        file.write("import os, subprocess\nopen({!r}, 'w').write(str(subprocess.Popen(['sleep', '99']).pid))\n"
                   "os.read(os.pipe()[0], 1)\n".format(path + ".pid"))
    t.check(module.run_part("hangs", -17, path).startswith("hung, "), "it did not hang")
    with open(path + ".pid") as file:
        pid = file.read()
    end = time.monotonic() + 9
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.05)
    t.check(pid and not is_running(pid), "what it started runs on")


def tree():
    """Returns a folder like a prebuilt tree, so that results are written there."""
    folder = t.scratch()
    for name in "tests", "shim", "analyzer":
        os.symlink(os.path.join(t.BUILD, name), os.path.join(folder, name))
    return folder


def check_steps():
    """A part must run only once (on the double), and its result must be in the step's report."""
    folder, out = tree(), t.scratch()
    results = os.path.join(folder, "gpu-results")
    os.makedirs(results)
    done = {"slow": "passed, 9 s", "profiler": "hung, 220 s", "host": "failed, 9 s", "jax": "passed, 9 s", "fed": "passed, 9 s",
            "pipeline": "failed, 9 s", "cases": "facts only, nothing judged, 9 s"}
    with open(os.path.join(results, "done.json"), "w") as file:
        json.dump(done, file)
    changes = dict(TEST_BUILD=folder, OUT=out)
    status, said = plan("5", "--double", **changes)
    t.equal(status, 1, "a part of it failed", said)
    t.equal(os.listdir(out), ["step-5.md"], "all is done: a report, nothing else")
    status, said = plan("4", "--double", **changes)
    with open(os.path.join(out, "step-4.md")) as file:
        text = file.read()
    for words in ("slow (rates.py slow side api): passed, 9 s", "profiler (others.py asynchronous): hung, 220 s",
                  "rates (rates.py buffers): passed, ", "operations older than their buffer"):
        t.check(words in text, "missing:", words, text)
    with open(os.path.join(results, "done.json")) as file:
        found = json.load(file)
    t.check(re.match(r"passed, \d+ s$", found.pop("rates", "")), "rates", text)
    t.equal(found, done, "what is done")


def check_nothing_judged():
    """A part that only has facts, such as that a tool is missing, must not count as passed."""
    import plan as module
    folder, out = tree(), t.scratch()
    with open(os.path.join(folder, "facts.py"), "w") as file:
        file.write("import sys; sys.path.insert(0, {!r}); import kit; table = kit.Table('facts')\n"
                   "table.fact('nsys', 'missing')\n"
                   "if 'judge' in sys.argv: table.row('status', 0, 0, True)\ntable.end()\n".format(HERE))
    os.environ["TEST_BUILD"], module.RESULTS = folder, out
    for words, became in ((" judge --double", "passed"), (" --double", "facts only, nothing judged")):
        said = module.run_part("facts", 30, os.path.join(folder, "facts.py") + words)
        t.check(said.startswith(became + ", "), words, said)


def check_left_out():
    """Parts that need torch must not count as passed if this Python lacks torch, and run once it has torch."""
    folder = tree()
    out = os.path.join(folder, "gpu-results")
    os.makedirs(out)
    with open(os.path.join(out, "done.json"), "w") as file:
        json.dump({"slow": "passed, 9 s", "rates": "left out: this Python has no torch"}, file)
    hidden = os.path.join(folder, "hidden")
    os.makedirs(hidden)
    with open(os.path.join(hidden, "sitecustomize.py"), "w") as file:
        file.write("import importlib.util as u; find = u.find_spec\n"
                   "u.find_spec = lambda name, *more: None if name == 'torch' else find(name, *more)\n")
    status, said = plan("5", "--double", TEST_BUILD=folder, PYTHONPATH=hidden)
    t.equal((status, said.count("left out: this Python has no torch")), (3, 2), "nothing is judged", said)
    plan("4", "--double", TEST_BUILD=folder, PYTHONPATH=hidden, LIMIT_S="9")
    with open(os.path.join(out, "done.json")) as file:
        found = json.load(file)
    t.check(not found["rates"].startswith("left out"), "it did not run again", found)


def check_starts():
    """Each part must start here and fill its table, or be left out if it needs torch and there is none."""
    import plan as module
    folder = tree()
    plan("--double", TEST_BUILD=folder, OUT=t.scratch(), LIMIT_S="19")
    with open(os.path.join(folder, "gpu-results", "done.json")) as file:
        done = json.load(file)
    for name, _, _ in [part for step in "12345" for part in module.parts_of(step)]:
        if done[name].startswith("left out"):
            t.check("no torch" in done[name] and not importlib.util.find_spec("torch"), name, done[name])
            continue
        with open(os.path.join(folder, "gpu-results", name + ".md")) as file:
            table = file.read().splitlines()[2:]
        t.check(done[name].startswith(("passed", "failed", "facts only")), name, done[name])
        t.check(any(": not reached" not in row and "could not be looked at" not in row for row in table), name, table)


def main():
    check_scripts()
    check_no_driver()
    check_hung()
    check_steps()
    check_nothing_judged()
    check_left_out()
    if os.environ.get("TEST_GPU_PLAN") == "full":  # takes a minute and a half
        check_starts()
    t.finish()


main()
