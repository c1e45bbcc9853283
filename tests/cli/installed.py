# SPDX-License-Identifier: Apache-2.0
"""After `meson install` into a folder that is then moved, launcher, library, drain and report find each
other, and run nothing in the build folder."""
import glob
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

PROGRAM = """
import ctypes, sys
shim = ctypes.CDLL(None)
for i in range(30):
    shim.dlprof_batch_begin()
    shim.dlprof_batch_end(ctypes.c_int64(i))
print("recorded", flush=True)
sys.stdin.readline()
"""


def install():
    """Installs into a folder and moves it; returns its new path."""
    meson = shutil.which("meson")
    if not meson:
        t.skip("no meson")
    folder = t.scratch()
    done = t.run([meson, "install", "-C", t.BUILD, "--no-rebuild", "--destdir",
                  os.path.join(folder, "staged")], env=t.environment(preload=False))
    t.equal(done.status, 0, "meson install", done.out[-500:], done.err[-500:])
    launcher = glob.glob(os.path.join(folder, "staged", "**", "bin", "dlprof"), recursive=True)
    if not t.equal(len(launcher), 1, "installed launchers", launcher):
        t.finish()
    moved = os.path.join(folder, "moved")
    os.rename(os.path.dirname(os.path.dirname(launcher[0])), moved)
    return moved


def main():
    t.need_shim()
    prefix = install()
    launcher, folder = os.path.join(prefix, "bin", "dlprof"), t.scratch()
    environment = t.environment(preload=False, TMPDIR=folder, DLPROF_QUIET=1)
    done = t.run([launcher, "doctor", "--json", "-q", "--", "true"], env=environment)
    rows = {row["id"]: row for row in json.loads(done.out)["checks"]}
    for name, file in (("library", "libdlprof.so"), ("drain", "dlprof-drain")):
        found = rows.get(name, {"status": "none", "text": ""})
        t.check(found["status"] == "ok" and found["text"].startswith(prefix + "/") and
                found["text"].endswith("/" + file), "doctor", name, found)
    found = t.run([launcher, "run", "-o", os.path.join(folder, "run.db"), t.PYTHON, "-c", PROGRAM],
                  env=environment, text_in="\n")
    t.equal((found.status, found.out, found.err), (0, "recorded\n", ""), "dlprof run")
    t.wait_for_drain(folder)
    t.equal(t.rows(os.path.join(folder, "run.db"), "SELECT COUNT(*) AS n FROM batch")[0]["n"], 30,
            "batches")
    t.check(not glob.glob(os.path.join(prefix, "**", "dlprof.built"), recursive=True),
            "dlprof.built is installed")
    done = t.run([launcher, "demo", "--json", "-o", os.path.join(folder, "demo.db"), "balanced"],
                 env=environment)
    t.equal(done.status, 0, "demo", done.err)
    t.check('"schema":"dlprof.report/' in done.out, "the report is found", done.out[:200])
    t.finish()


main()
