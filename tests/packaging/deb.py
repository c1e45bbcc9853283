# SPDX-License-Identifier: Apache-2.0
"""The Debian package: lintian has nothing to say, it records and reports, and removing it leaves nothing."""
import glob
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from dlprof_test import (PYTHON, ROOT, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, rows, run, say, scratch, skip)

BATCHES = 40
TRAINING = """
import dlprof, json
import torch.utils.data as data
for batch in data.DataLoader(list(range({})), num_workers=2): pass
print(json.dumps(dlprof.latest()))
""".format(BATCHES)


def must(argv, **keywords):
    done = run(argv, env=environment(False), timeout=900, **keywords)
    if not equal(done.status, 0, argv, done.out[-2000:], done.err[-2000:]):
        finish()
    return done.out


def check_lintian(package):
    if not shutil.which("lintian"):
        say("no lintian: what it would say is not known")
        return
    root = ["--allow-root"] if os.geteuid() == 0 else []
    done = run(["lintian", "--fail-on", "error,warning", "--tag-display-limit", "0"] + root +
               [package], env=environment(False), timeout=300)
    equal((done.status, done.out), (0, ""), "lintian")


def check_use(tree):
    programs = os.path.join(tree, "usr", "bin")
    library, = glob.glob(os.path.join(tree, "usr", "lib", "*", "libdlprof.so"))
    packages = os.path.join(tree, "usr", "lib", "python3", "dist-packages")
    database = os.path.join(scratch(), "run.db")
    done = run([os.path.join(programs, "dlprof"), "run", "--library", library, "-o", database,
                PYTHON, "-c", TRAINING], env=environment(False, PYTHONPATH=packages))
    equal(done.status, 0, done.err)
    equal(json.loads(done.out)["batches"], BATCHES, "latest()", done.err)
    check("dlprof" in done.err and os.path.basename(database) in done.err, "report", done.err)
    equal(rows(database, "SELECT count(*) AS n FROM load")[0]["n"], BATCHES, "loads")


def files(folder):
    return {os.path.relpath(os.path.join(above, name), folder)
            for above, _, names in os.walk(folder) for name in names}


def check_removed(package):
    """dpkg in a root of its own."""
    root = scratch()
    for name in ("info", "updates"):
        os.makedirs(os.path.join(root, "var", "lib", "dpkg", name))
    for name in ("status", "available"):
        open(os.path.join(root, "var", "lib", "dpkg", name), "w").close()
    dpkg = ["dpkg", "--root=" + root, "--force-depends", "--force-not-root",
            "--force-script-chrootless"]
    before = files(os.path.join(root))
    must(dpkg + ["-i", package])
    check(len(files(root) - before) > 15, "installed", files(root))
    must(dpkg + ["-P", "dlprof"])
    left = {name for name in files(root) - before if not name.startswith("var/l")}
    equal(left, set(), "left behind")
    equal(os.path.exists(os.path.join(root, "usr", "lib", "python3")), False, "folders")


def main():
    need_shim()
    need_torch()
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "dpkg-buildflags"):
        if not shutil.which(tool):
            skip("no " + tool)
    folder = scratch()
    must(["sh", os.path.join(ROOT, "packaging", "deb.sh"), "-o", folder])
    package, = glob.glob(os.path.join(folder, "*.deb"))
    check_lintian(package)
    tree = scratch()
    subprocess.run(["dpkg-deb", "-x", package, tree], check=True)
    check_use(tree)
    check_removed(package)
    finish()


main()
