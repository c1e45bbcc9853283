# SPDX-License-Identifier: Apache-2.0
"""With --redact no verb and no form prints a name of a file, folder, host, user, job or command line, but
all numbers are there."""
import csv
import io
import json
import os
import re
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import pages
import rundb

TELL = "zebra"  # part of every name that must not be printed
HOST = "zebrahost"
HOME = "/home/zebrauser/zebra folder"
LIMITS = "--limit stall.ratio<=1%\n"
FORMS = ("text", "github", "json", "junit", "markdown")


def make(path, number=0, **meta):
    """Makes a rank of a job of two, with names in all places that can have one."""
    batches = pages.with_gpu(rundb.simulate(330, 4, 60, 10, seed=7 + number))
    gaps = pages.gap_rows(batches)
    rundb.build(path, [rundb.loader(batches, workers=4, kind="mine.MyLoader",
                                      place="zebraMAIN.py:3 in main")], version=6, meta=dict({
        "command": "/opt/zebra/python3 {}/train.py --out zebra".format(HOME), "host": HOST,
        "run_id": "{}-42-17f{}".format(HOST, number), "rank": str(number), "clock": "gpu",
        "gpu": "NVIDIA H200", "gpu.0": "NVIDIA H200 at 0000:3b:00.0", "cuda_mode": "cupti",
        "cuda_reason": "cannot load " + HOME + "/libcupti.so", "segments": "/tmp/zebra-segments",
        "start_unix_ns": str((1766000000 + number) * 10**9),
        "job_id": "zebrajob", "label.team": "zebra", "patch_missing": "mine.MyLoader:next",
        "decoders_hidden": "libjpeg in " + HOME + "/lib x.so", "kernel": "6.1.0-" + HOST,
        "overhead": "unknown to " + HOST, "nvtx": "not recorded: 'zebra' is another tool's"}, **meta),
        notes=["cannot open {}/data file, says {}".format(HOME, HOST),
               "DLPROF_LOG: cannot write to 'zebra.log': a FIFO", "three records were lost"])
    pages.add_inside(path, lambda what: re.sub("/(data|usr/lib)/", HOME + "/", what) if "/" in what
                     else "MyClass")
    database = sqlite3.connect(path)
    for row in gaps:
        rundb.insert(database, "t_gpu_step", row)
    for task in range(10):
        rundb.insert(database, "t_gpu_device", {"loader_id": 1, "epoch": 0, "task": task, "device": 0,
                                                "fed": 1, "busy_ns": 10**6, "kernel_count": 3})
    for i, (name, kind) in enumerate(((HOST + ":443", "socket"), ("10.9.8.7:80", "socket"),
                                      (HOME + "/data.sock", "socket"), ("@zebra", "socket"),
                                      (HOME + "/lock", "lock"), ("pipe", "pipe"), ("", "asleep"))):
        database.execute("INSERT INTO t_total VALUES ('wait', ?, ?, 0, 3, ?, 9, 0, 9, 0)",
                         (name, kind, 10**9 + i))
    for i, name in enumerate(("zebra-calc", "python3")):
        rundb.insert(database, "t_thread", {"pid": 42, "tid": 43 + i, "name": name,
                                            "cpu_ns": 10**9})
    database.execute("UPDATE t_process SET command = ?, start_ns = ?",
                     ("python3 {}/train.py".format(HOME), rundb.START_NS))
    database.execute("INSERT INTO t_gap VALUES (?, ?, ?, 42)",
                     (rundb.START_NS, rundb.START_NS + 10**6, HOME + "/tool uses CUPTI"))
    for i, text in enumerate(("zebra phase", "saved to " + HOME + "/a b", "zebra phase", "zebra")):
        rundb.insert(database, "t_mark", {"ts_ns": rundb.START_NS + i, "pid": 42, "tid": 42,
                                          "text": text, "ns": 10**6 if i else None})
    mine = HOME + "/train.py"
    library = "/opt/zebra/lib/python3.11/site-packages/torch/zebra.py"
    rundb.insert_lines(database, [
        ("worker", 1, "load", [(library, "zebra_inner", 7), (mine, "zebra_collate", 12)], 900),
        ("main", 1, "not_ready", [(library, "zebra_iter.__next__", 9), (mine, "main_zebra", 41)], 300),
        ("thread", 1, "not_ready", [(mine, "Zebra.<locals>.metrics", 15)], 290),
        ("main", 1, "step", [(library, "zebra_inner", 7), (mine, "main_zebra", 44)], 300)])
    rundb.insert(database, "t_meta", {"key": "lines", "value":
                                      "not observed: cannot read '" + HOME + "/python3.11'"})
    rundb.insert(database, "t_doing", {
        "pid": 42, "role": "main", "since_ns": 1, "seen_ns": 10**12, "frames": "1 2"})
    database.commit()
    database.close()
    return path


class Job:
    def __init__(self, folder):
        self.folder = os.path.join(folder, "zebra-job")
        os.mkdir(self.folder)
        self.runs = [make(os.path.join(self.folder, "zebra{}.db".format(i)), i) for i in range(2)]
        self.options = os.path.join(folder, "zebra-options.txt")
        with open(self.options, "w") as file:
            file.write(LIMITS)
        self.base = os.path.join(folder, "zebra-base")
        os.mkdir(self.base)
        for i in range(6):
            make(os.path.join(self.base, "zebra{}.db".format(i)), i + 2, rank="0")
        shutil.copy(os.path.join(self.base, "zebra0.db"), os.path.join(self.base, "zebra7.db"))
        make(os.path.join(self.base, "zebra8.db"), 9, rank="0", host="zebraother")


def report(*arguments, **changes):
    bare = dict.fromkeys(("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT",
                          "GITHUB_WORKSPACE"))
    return t.run([t.REPORT] + list(arguments),
                 env=t.environment(preload=False, **dict(bare, **dict({"LC_ALL": "C.UTF-8"}, **changes))))


def leaks(text):
    return re.findall(".{0,60}" + TELL + ".{0,30}", text, re.IGNORECASE)


def show(name, *arguments, status=(0, 1, 3), **changes):
    done = report(*arguments, "--redact", **changes)
    t.check(done.status in status, name, "status", done.status, done.err)
    t.check(done.out, name, "says nothing", done.err)
    t.equal(leaks(done.out), [], name)
    return done.out


def numbers(value):
    """Returns a JSON value with empty strings instead of its texts."""
    if isinstance(value, dict):
        return {key: numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [numbers(item) for item in value]
    return "" if isinstance(value, str) else value


def check_plain(job, verb):
    """Tries text and each form that is a flag, for a run and for the job, on standard output and in a file."""
    has = report(*verb, "--help").out
    forms = [[]] + [[form] for form in ("--json", "--csv", "--verbose", "--markdown") if form + " " in has]
    for form in forms:
        for runs in ([job.runs[0]], job.runs, [job.folder]):
            if verb in (["batches"], ["top"]) and len(runs) > 1 or verb == ["compare"] and \
                    runs != job.runs or verb == ["top"] and runs == [job.folder]:
                continue
            rank = ["--rank", "1"] if verb == ["batches"] and runs == [job.folder] else []
            name = " ".join(verb + form + [str(len(runs))])
            arguments = verb + form + runs + rank
            out = show(name, *arguments)
            if form == ["--json"]:
                bare = json.loads(report(*arguments).out)
                t.equal(numbers(json.loads(out)), numbers(bare), name, "other numbers")


def check_export(job):
    out = os.path.join(job.folder, "out")
    done = report("export", "--redact", job.runs[0], "-o", out)
    t.equal((done.status, done.err), (0, ""), "export")
    views = {}
    for name in sorted(os.listdir(out)):
        with open(os.path.join(out, name), newline="") as file:
            content = file.read()
        t.equal(leaks(content), [], "export", name)
        views[name[:-4]] = list(csv.DictReader(io.StringIO(content)))
        bare = report("export", "--view", name[:-4], job.runs[0]).out
        t.equal(len(views[name[:-4]]), len(list(csv.DictReader(io.StringIO(bare)))), name)
    files = [row["path"] for row in views["file"]]
    t.equal(len(set(files)), 3, "three files are three names", files)
    t.check(all(re.fullmatch(r"file-\d+", name) for name in files), "names of files", files)
    t.check(all(re.fullmatch(r"folder-\d+", row["path"]) for row in views["folder"]), "folders")
    meta = {row["key"]: row["value"] for row in views["meta"]}
    t.equal(meta["host"], "host-1", "host")
    t.equal(meta["run_id"], "host-1-42-17f0", "the host in other texts")
    t.check(re.fullmatch(r"python3 arguments-\d+", meta["command"]), "command", meta["command"])
    t.equal((meta["cpus"], meta["gpu"], meta["patch_missing"]),
            ("8", "NVIDIA H200", "mine.MyLoader:next"), "what stays")
    t.equal(views["loader"][0]["kind"], "mine.MyLoader", "names of classes")
    t.check(any(row["name"] == "RandomCrop" for row in views["step"]), "names of steps")
    script = views["loader"][0]["place"][5:].split(":")[0]
    t.check(script.isdigit(), "a script's number", script)
    t.equal(views["loader"][0]["place"], "file-{}:3 in main".format(script), "a script's name")
    t.equal([row["text"] for row in views["mark"]], ["mark-1", "mark-2", "mark-1", "mark-3"], "marks")
    t.check(any(row["text"] == "three records were lost" for row in views["note"]), "notes")
    t.check(any(row["what"].startswith("read file-") for row in views["slow"]), "slow calls")
    t.equal({row["function"][:6] for row in views["frame"]}, {"value-"}, "names of functions")
    t.equal(len({row["file"] for row in views["frame"]}), 2, "two files are two names")
    peers = sorted(row["name"][:4] for row in views["blocked"])
    t.equal(peers, sorted(["", "pipe", "host", "host", "file", "file", "file"]), "other sides")
    t.equal({row["name"][:6] for row in views["thread"]}, {"value-"}, "names of threads")
    for name in views:
        show("export --view " + name, "export", "--view", name, job.runs[1])
    shutil.rmtree(out)


def check_gate(job):
    limits = [["--max-stall-ratio", "1%"], ["@" + job.options], ["--baseline", job.base],
              ["--baseline", os.path.join(job.base, "zebra-none.db"), job.base]]
    listed = re.search(r"--format FORMS +(\S+)", report("gate", "--help").out).group(1)
    t.equal(tuple(form.split("=")[0] for form in listed.split(",")), FORMS, "forms of the gate")
    for limit in limits:
        for form in FORMS:
            out = os.path.join(job.folder, "form")
            for runs in ([job.runs[0]], job.runs):
                name = "gate {} {} {}".format(limit[0], form, len(runs))
                done = report("gate", *runs, *limit, "--why", "--redact", "--format",
                              "{}={}".format(form, out) if form != "text" else form)
                if done.status == 2 and form in ("github", "json"):  # these forms write no file
                    done = report("gate", *runs, *limit, "--redact", "--format", form)
                t.check(done.status in (0, 1, 3), name, "status", done.status, done.err)
                t.equal(leaks(done.out), [], name)
                if os.path.exists(out):
                    with open(out) as file:
                        content = file.read()
                    t.check(content or form == "github", name, "is empty")
                    t.equal(leaks(content), [], name)
                    os.remove(out)
    summary = os.path.join(job.folder, "summary")
    show("gate in an action", "gate", job.runs[0], "--max-stall-ratio", "1%",
         GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=summary, GITHUB_OUTPUT=summary)
    if t.check(os.path.exists(summary), "no summary"):
        with open(summary) as file:
            t.equal(leaks(file.read()), [], "summary of an action")
        os.remove(summary)
    show("gate --calibrate", "gate", job.runs[0], "--calibrate", "--baseline", job.base)
    done = report("gate", job.runs[0], "--baseline", job.base, "--update-baseline", "--redact")
    t.check(done.status == 2 and "--redact" in done.err, "--update-baseline", done.err)


def check_sql(job):
    """Tries a database with names, and one that was exported without names."""
    for made in ([], ["--redact"]):
        fleet = os.path.join(job.folder, "zebra-fleet{}.sqlite".format(len(made)))
        t.equal(report("export", "--into", fleet, *job.runs, *made).status, 0, made)
        for name in ("worst_jobs", "culprits", "bad_nodes"):
            for form in ([], ["--json"], ["--csv"]):
                show("sql " + name, "sql", name, fleet, *form)
    with open(fleet, "rb") as file:
        t.equal(leaks(file.read().decode("latin-1")), [], "export --into")
    rows = os.path.join(job.folder, "rows")
    named = os.path.join(job.folder, "zebra-fleet0.sqlite")
    for source in (job.runs, [named]):
        done = report("export", "--redact", "-f", "--csv", "-o", rows, *source)
        t.equal((done.status, done.err), (0, ""), source)
        for name in os.listdir(rows):
            with open(os.path.join(rows, name)) as file:
                t.equal(leaks(file.read()), [], "export --csv", name, source)
    shutil.rmtree(rows)


CHECKS = {
    "": lambda job: check_plain(job, []),
    "batches": lambda job: check_plain(job, ["batches"]),
    "compare": lambda job: check_plain(job, ["compare"]),
    "html": lambda job: check_plain(job, ["html"]),
    "trace": lambda job: check_plain(job, ["trace"]),
    "top": lambda job: check_plain(job, ["top"]),
    "fold": lambda job: check_plain(job, ["fold"]),
    "export": check_export,
    "sql": check_sql,
    "gate": check_gate,
    "import": lambda job: None,  # makes a run, and prints none
}


def check_planted(job):
    """Without --redact the names are printed: else this test would prove nothing."""
    for verb in ([], ["--json"], ["html"], ["trace"], ["export", "--view", "mark"],
                 ["export", "--view", "loader"]):
        t.check(leaks(report(*verb, job.runs[0]).out), verb, "names nothing")
    for form in (["-v"], ["html"]):
        t.check("made at zebraMAIN.py:3" in re.sub(r"\s+", " ", report(*form, job.runs[0]).out), form, "made at")
    for verb in ([], ["-v"], ["--json"], ["html"], ["export", "--view", "frame"]):
        t.check("zebra_collate" in report(*verb, job.runs[0]).out, verb, "names no line")
        done = show("lines", *verb, job.runs[0])
        t.check("file-" in done and "value-" in done, verb, "has no words for a line", done[:500])


def main():
    job = Job(t.scratch())
    check_planted(job)
    usage = report("--help").out.split("\n\n")[1]
    verbs = {re.match(r"  (\(no verb\)|\w+)", line).group(1) for line in usage.splitlines()}
    t.equal({"" if verb == "(no verb)" else verb for verb in verbs}, set(CHECKS),
            "verbs that this test knows")
    for verb, check in CHECKS.items():
        offers = "--redact" in report(*([verb] if verb else []), "--help").out
        t.equal(offers, verb != "import", "--redact of", verb or "the report")
        check(job)
    t.finish()


main()
