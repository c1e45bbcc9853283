# SPDX-License-Identifier: Apache-2.0
"""`metrics`: every rank of a folder has its samples, under the promised names, and whatever a job is
called Prometheus can read the file."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlprof_test as t
import rundb

NAMES = {"dlprof_" + name for name in (
    "batches_total starved_batches_total records_lost_total wait_seconds_total compute_seconds_total "
    "load_seconds_total read_bytes_total storage_bytes_total queue_depth_batches "
    "last_batch_timestamp_seconds updated_timestamp_seconds run_info").split()}
LINE = re.compile(r'# (HELP|TYPE) (\w+) .+|(\w+)\{job_id="((?:[ !#-\[\]-~]|\\["\\])*)",rank="(\d+)",'
                  r'local_rank="\d+"[^}]*\} (\S+)|# EOF')


def check_folder():
    folder = rundb.job(t.scratch(), [1, 90, 1], job_id='a"\\b\n\u00e4')
    done = t.report("metrics", folder)
    t.equal((done.status, done.err), (0, ""))
    seen, samples = [], {}
    for line in done.out.splitlines():
        found = LINE.fullmatch(line)
        if not t.check(found, "no line of the format", line) or line == "# EOF":
            continue
        name = found.group(2) or found.group(3)
        if not seen or seen[-1] != name:
            seen.append(name)
        if found.group(3):
            t.equal(found.group(4), 'a\\"\\\\b???', "job_id", line)
            samples.setdefault(name, set()).add(found.group(5))
    t.equal(len(seen), len(set(seen)), "samples of a name stand together", seen)
    t.equal(set(seen), NAMES)
    for name in ("dlprof_batches_total", "dlprof_wait_seconds_total", "dlprof_run_info"):
        t.equal(samples[name], {"0", "1", "2"}, "ranks of", name)


def check_loaders():
    """Starved batches are counted of all loaders, as batches are, and as the view has them."""
    train, after = rundb.simulate(400, 4, 60, 10), rundb.simulate(100, 0, 20, 10)
    path = rundb.build(os.path.join(t.scratch(), "two.db"),
                       [rundb.loader(train, workers=4), rundb.loader(after, workers=0)],
                       theta=2 * rundb.MS)
    starved = t.rows(path, "SELECT SUM(starved) AS n FROM batch GROUP BY loader_id ORDER BY 1")
    t.check(min(row["n"] for row in starved) > 50, "both starve", starved)
    said = re.search(r"\ndlprof_starved_batches_total\{.*\} (\d+)\n", t.report("metrics", path).out)
    t.equal(int(said[1]), sum(row["n"] for row in starved))


def check_refusals():
    for arguments, words in ((["/nonexistent.db"], "cannot open '/nonexistent.db'"),
                             ([__file__], "not a dlprof database"),
                             ([t.scratch()], "holds no run of dlprof")):
        done = t.report("metrics", *arguments)
        t.equal((done.status, done.out, done.err.count("\n")), (2, "", 1), arguments, done.err)
        t.check(words in done.err, words, done.err)


check_folder()
check_loaders()
check_refusals()
t.finish()
