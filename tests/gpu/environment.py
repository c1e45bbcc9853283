# SPDX-License-Identifier: Apache-2.0
"""Lists what the machine has, and checks that a kernel is traced. If that fails, no other script is worth a run.

usage: environment.py
"""
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import (dlprof_test, LIBCUPTI, LIBRARIES, PYTHON, Table, Trace, probe, rows, run, scratch,  # noqa
                 settings, wait_for_drain)

USES_GPU = "import torch; torch.zeros(9, device='cuda').sum().item()"
TORCH = """
import os, re, sys
try:
    import torch
except ImportError as error:
    sys.exit("no torch: %s" % error)
print("torch", torch.__version__, "CUDA", torch.version.cuda, "devices", torch.cuda.device_count())
if torch.cuda.is_available():
    torch.zeros(1, device="cuda")
    for line in sorted({line.split()[-1] for line in open("/proc/self/maps")
                        if re.search("libcu(pti|dart|da)\\\\.so", line)}):
        print("mapped", line)
print("site", os.path.dirname(os.path.dirname(torch.__file__)))
"""


def attached(table, name, start):
    """Checks that dlprof records the GPU of a program. If that fails, no other script is worth a run."""
    database = os.path.join(scratch(), "run.db")
    start(preload=True, DLPROF_OUT=database, DLPROF_ACTIVATE="always")
    wait_for_drain(database)
    meta = {}
    if os.path.exists(database):
        meta = {row["key"]: row["value"] for row in rows(database, "SELECT key, value FROM meta")}
    found = ", ".join("{} {}".format(key, meta[key]) for key in (
        "cuda_mode", "cuda_reason", "cupti_version", "cuda_records", "cuda_bad_ts") if key in meta)
    table.row("dlprof in " + name, found or "no database", "cuda_mode cupti, records",
              meta.get("cuda_mode") == "cupti" and int(meta.get("cuda_records") or 0) > 0)


def doctor(table):
    """Adds what `dlprof doctor` says of a program that uses the GPU: its lines that are not "ok", or about the GPU."""
    status, out, err, _ = run([dlprof_test.DLPROF, "doctor", "--library", dlprof_test.SHIM, PYTHON, "-c", USES_GPU],
                              settings(double=False), 60)
    told = [line.strip() for line in (out + err).splitlines() if not line.startswith("ok ") or "gpu" in line or "cuda" in line]
    table.fact("doctor, status {}".format(status), " ".join(told).replace("|", "/"))


def main():
    table = Table("environment")
    table.fact("libcupti for the probes", LIBCUPTI or "the loader's")
    _, out, err, _ = run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total,mig.mode"
                          ".current", "--format=csv,noheader"], settings()) \
        if shutil.which("nvidia-smi") else (1, "", "no nvidia-smi", 0)
    table.fact("GPU, driver, memory, MIG", out.strip().replace("\n", "; ") or err.strip())
    table.fact("glibc", os.confstr("CS_GNU_LIBC_VERSION"))
    table.fact("Python", sys.version.split()[0])
    table.fact("carried libraries", " ".join(sorted(os.listdir(LIBRARIES)))
               if os.path.isdir(LIBRARIES) else "none")
    status, out, err, _ = run([PYTHON, "-c", TORCH], settings(double=False))
    lines = out.splitlines() if not status else (err.strip().splitlines() or ["no torch"])[-1:]
    site = None
    for line in lines:
        site = line.split()[1] if line.startswith("site ") else site
        table.fact("torch", line)
    for path in sorted(glob.glob(os.path.join(site or "/nonexistent", "**", "libcupti*"),
                                 recursive=True)):
        table.fact("libcupti of the site packages", path)
    library = os.path.join(site or "", "torch", "lib", "libtorch_cpu.so")
    if site and shutil.which("readelf"):
        _, out, _, _ = run(["readelf", "-dW", library], settings())
        table.fact("libtorch_cpu.so needs", " ".join(re.findall(r"\[(lib(?:cupti|cudart)\S*)\]",
                                                                out)) or "no CUDA library")
    for tool in "nsys", "ncu", "compute-sanitizer", "nvcc":
        table.fact(tool, shutil.which(tool) or "missing")
    trace = Trace("spins", 1, 10, 10)
    for words in trace.answers("version") + trace.answers("subscribe"):
        table.fact("cupti " + words[0], words[1])
    table.row("a kernel is traced", len(trace.of(3, 10)), ">= 1", len(trace.of(3, 10)) >= 1)
    attached(table, "a probe", lambda **changes: probe("spins", 100, 50, 50, **changes))
    if site:
        attached(table, "torch", lambda **changes: run(
            [PYTHON, "-c", USES_GPU],
            settings(double=False, **changes)))
    doctor(table)
    table.end()


main()
