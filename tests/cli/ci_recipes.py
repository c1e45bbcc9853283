# SPDX-License-Identifier: Apache-2.0
"""The recipe in examples/ci works, and the files for GitHub and GitLab call it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402
from gate_runs import CLEAR, Runs, annotations, make  # noqa: E402
from junit import check_junit  # noqa: E402

def check_recipe(runs):
    """Runs examples/ci/gate.sh with a program that stands in for a training."""
    recipe = os.path.join(t.ROOT, "examples", "ci", "gate.sh")
    options = os.path.join(t.ROOT, "examples", "ci", "dlprof-gate")
    top = runs.at("checkout")
    os.mkdir(top)
    pool = [make(runs.at("long{}.db".format(i)), count=520, seed=40 + i) for i in range(8)]
    slow = make(runs.at("long-slow.db"), count=520, load_ms=55, seed=60)

    programs = os.pathsep.join([os.path.dirname(t.DLPROF), os.path.dirname(t.REPORT),
                                os.environ["PATH"]])

    def ci(run, command='cp "$0" "$DLPROF_OUT"', **changes):
        settings = dict(CLEAR, PATH=programs, OPTIONS=options, **changes)
        return t.run(["sh", recipe, "sh", "-c", command, run], cwd=top,
                     env=t.environment(preload=False, **settings))

    for i, run in enumerate(pool[:6]):
        result = ci(run, MAIN="1")
        t.equal(result.status, 0, i, result.out, result.err)
        t.equal(len(os.listdir(os.path.join(top, "dlprof-baseline"))), i + 1, result.err)
    t.equal(ci(runs.short, MAIN="1").status, 1, "a run that ended early")
    lost = make(runs.at("long-lost.db"), count=520, seed=61, losses=[40])
    t.equal(ci(lost, MAIN="1").status, 3, "lost records")
    t.equal(ci(pool[6]).status, 0, "a pull request that changes nothing")
    t.equal(len(os.listdir(os.path.join(top, "dlprof-baseline"))), 6, "and is no baseline")
    result = ci(slow, GITHUB_ACTIONS="true")
    t.equal(result.status, 1, "one that is slower", result.out, result.err)
    t.check(len(annotations(result.out)) >= 2, result.out)
    for name in ("gate.xml", "gate.md", "gate.json", "runs"):
        t.check(os.path.getsize(os.path.join(top, "dlprof-results", name)), name)
    check_junit(os.path.join(top, "dlprof-results", "gate.xml"))
    t.equal(ci(slow, "exit 7").status, 7, "a training that fails")
    ranks = 'for rank in 0 1; do cp "$0-$rank" dlprof-results/runs/run-$rank.db; done'
    for name, slow_rank in (("alike", None), ("apart", 1)):
        for rank in range(2):
            make(runs.at("{}-{}".format(name, rank)), count=520, seed=70, meta={"rank": str(rank)},
                 load_ms=55 if rank == slow_rank else 40)
        result = ci(runs.at(name), ranks)
        t.equal(result.status, 0 if slow_rank is None else 1, "ranks", name, result.out, result.err)


def check_workflows():
    """Both files call the recipe, and keep the files that it writes where later steps look for them."""
    try:
        import yaml
    except ImportError:
        t.say("no yaml: the workflow files are not parsed")
        return
    folder = os.path.join(t.ROOT, "examples", "ci")
    with open(os.path.join(folder, "github.yml"), encoding="utf-8") as file:
        steps = yaml.safe_load(file)["jobs"]["gate"]["steps"]
    t.equal([step["run"] for step in steps if "gate.sh" in step.get("run", "")],
            ["sh ci/gate.sh python train.py --epochs 2"])
    paths = [step["with"]["path"] for step in steps if "path" in step.get("with", {})]
    t.equal(paths, ["dlprof-baseline", "dlprof-baseline", "dlprof-results"])
    with open(os.path.join(folder, "gitlab.yml"), encoding="utf-8") as file:
        job = yaml.safe_load(file)["data-stall"]
    t.equal(job["script"], ["sh ci/gate.sh python train.py --epochs 2"])
    for install in ([step["run"] for step in steps if step.get("name") == "Install"],
                    job["before_script"]):
        t.equal(install, ["pip install -r requirements.txt ci/dlprof-*.whl"])
    t.equal(job["artifacts"]["reports"], {"junit": "dlprof-results/gate.xml"})
    t.equal(job["cache"]["paths"], ["dlprof-baseline"])


def main():
    runs = Runs(t.scratch())
    check_recipe(runs)
    check_workflows()
    t.finish()


main()
