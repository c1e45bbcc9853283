# SPDX-License-Identifier: Apache-2.0
"""DLPROF_METRICS_DIR: the file is what the run did so far, goes with the run, and never matters to it.
"""
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, drains, environment, equal, finish, need_shim, need_torch,  # noqa
                         report, rows, run, say, scratch, wait_for_drain)

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sleeper.py")
LONG = {"workers": 2, "load_s": 0.03, "step_s": 0.01, "batches": 1200}  # 18 s: two writes
SHORT = {"workers": 0, "load_s": 0.01, "step_s": 0.002, "batches": 100}
SAMPLE = re.compile(r"(\w+)\{([^}]*)\} (\S+)")
NAMES = {"dlprof_" + name for name in (
    "batches_total starved_batches_total records_lost_total wait_seconds_total compute_seconds_total "
    "load_seconds_total read_bytes_total storage_bytes_total queue_depth_batches "
    "last_batch_timestamp_seconds updated_timestamp_seconds run_info").split()}
LINE = re.compile(r'# (HELP|TYPE) (\w+) .+|(\w+)\{job_id="((?:[ !#-\[\]-~]|\\["\\])*)",rank="(\d+)",'
                  r'local_rank="(\d+)"[^}]*\} (\S+)|# EOF')
JOB = 'a"\\b\n\u00e4'  # whatever a job is called, Prometheus can read the file


def start(folder, metrics, plan, **changes):
    return subprocess.Popen(
        [PYTHON, "-W", "ignore", SLEEPER, os.path.join(folder, "log"), json.dumps(plan)],
        env=environment(DLPROF_OUT=os.path.join(folder, "run.db"), DLPROF_METRICS_DIR=metrics,
                        TMPDIR=folder, **changes),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read(text):
    """Samples by name, those of wait by name and part."""
    found = {}
    for name, labels, value in SAMPLE.findall(text):
        part = re.search('part="([^"]*)"', labels)
        found[name + (":" + part.group(1) if part else "")] = float(value)
    return found


def waits(sample):
    return sum(value for name, value in sample.items() if name.startswith("dlprof_wait_seconds"))


def follow(process, folder, metrics):
    """All texts that the file ever held."""
    texts = []
    while process.poll() is None or drains(folder):
        for name in os.listdir(metrics):
            if name.endswith(".prom"):
                try:
                    with open(os.path.join(metrics, name)) as file:
                        text = file.read()
                except FileNotFoundError:
                    continue
                check(text.endswith("# EOF\n"), "a file that is not whole:", repr(text[-80:]))
                if text not in texts:
                    texts.append(text)
        time.sleep(0.05)
    return texts


def check_format(text):
    """The promised names, those of one name together, with the labels of this rank."""
    seen = []
    for line in text.splitlines():
        found = LINE.fullmatch(line)
        if not check(found, "no line of the format", line) or line == "# EOF":
            continue
        name = found.group(2) or found.group(3)
        if not seen or seen[-1] != name:
            seen.append(name)
        if found.group(3):
            equal(found.group(4, 5, 6), ('a\\"\\\\b ??', "3", "1"), "labels", line)
    equal(len(seen), len(set(seen)), "samples of a name stand together", seen)
    equal(set(seen), NAMES)


def check_numbers(folder, texts):
    """As many rows of the database as the file has batches, by the account's definition."""
    check(len(texts) >= 2, len(texts), "files, every 15 s one")
    before = {}
    for text in texts:
        sample = read(text)
        for name, value in before.items():
            check(not name.split(":")[0].endswith("_total") or sample[name] >= value, name, "fell")
        before = sample
    count = int(before["dlprof_batches_total"])
    check(count > 300, count, "batches in the last file")
    first = rows(os.path.join(folder, "run.db"),
                 "SELECT begin_ns, wait_ns, step_ns FROM batch ORDER BY batch LIMIT ?", count)
    wait = sum(row["wait_ns"] for row in first[1:])
    span = first[-1]["begin_ns"] + first[-1]["step_ns"] - first[0]["begin_ns"] - first[0]["wait_ns"]
    check(abs(waits(before) - wait / 1e9) < 1e-6, "waits", waits(before), wait / 1e9)
    found = waits(before) + before["dlprof_compute_seconds_total"]
    check(abs(found - span / 1e9) < 1e-6, "waits and compute", found, span / 1e9)
    meta = {row["key"]: row["value"] for row in rows(os.path.join(folder, "run.db"), "SELECT key, value FROM meta")}
    ended = (int(meta["start_unix_ns"]) + first[-1]["begin_ns"] + first[-1]["step_ns"] - int(meta["start_ns"])) / 1e9
    found = before["dlprof_last_batch_timestamp_seconds"]
    check(abs(found - ended) < 1, "when the last batch was", found, ended)
    say("{} batches, waiting for {:.1f} s of {:.1f} s".format(count, wait / 1e9, span / 1e9))
    judged = json.loads(report("--json", os.path.join(folder, "run.db")).out)["stall"]
    load = rows(os.path.join(folder, "run.db"), "SELECT SUM(load_ns) AS ns FROM load")[0]["ns"] / 1e9
    for name, whole in (("starved_batches_total", judged["starved_batches"]),
                        ("load_seconds_total", load)):
        found = before["dlprof_" + name]
        check(0 < found <= whole * 1.02, name, found, "of", whole)


def check_harmless(metrics, message):
    """What is wrong with the folder is one note and no more."""
    folder = scratch()
    process = start(folder, metrics, SHORT)
    out, err = process.communicate(timeout=120)
    wait_for_drain(folder)
    equal((process.returncode, out), (0, "trained 100\n"), metrics, "training", err)
    equal(len(err.splitlines()), 1, metrics, "lines on stderr", err)
    notes = [row["text"] for row in rows(os.path.join(folder, "run.db"), "SELECT text FROM note")
             if "METRICS" in row["text"]]
    equal(len(notes), 1, metrics, "notes", notes)
    check(message in "".join(notes), metrics, "note", notes)
    equal(rows(os.path.join(folder, "run.db"), "SELECT COUNT(*) AS n FROM batch")[0]["n"], 100)


def check_full():
    folder = scratch()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", folder],
                      stderr=subprocess.DEVNULL).returncode:
        say("no tmpfs may be mounted: the full disk is not tried")
        return
    try:
        with open(os.path.join(folder, "full"), "wb") as file:
            file.write(bytes(4096))
        check_harmless(folder, "No space left on device")
        equal(os.listdir(folder), ["full"], "left on the full disk")
    finally:
        subprocess.run(["umount", "-l", folder])


def make(folder, name, age_s):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("# EOF\n")
    os.utime(path, (time.time() - age_s,) * 2)


need_shim()
need_torch()
folder, metrics = scratch(), scratch()
for name in ("dlprof-1-2.prom", "dlprof-1-3.prom.new", "others.prom"):
    make(metrics, name, 3600)
make(metrics, "dlprof-4-5.prom", 60)
process = start(folder, metrics, LONG, RANK="3", LOCAL_RANK="1", SLURM_JOB_ID=JOB)
texts = follow(process, folder, metrics)
equal(process.wait(), 0, "training", process.stderr.read())
texts = [text for text in texts if "dlprof_run_info{" in text]
check_format(texts[-1])
check_numbers(folder, texts)
equal(sorted(os.listdir(metrics)), ["dlprof-4-5.prom", "others.prom"],
      "what was not written for long goes, as does the run's own file")
check_harmless(os.path.join(metrics, "missing"), "No such file or directory")
check_harmless("relative", "wants an absolute path")
check_full()
finish()
