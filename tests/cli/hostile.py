# SPDX-License-Identifier: Apache-2.0
"""No verb takes more than 10 s of a core or 1 GB for any database below 100 MB, whoever made it."""
import os
import re
import resource
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import hostile_runs

SECONDS = 10
BYTES = 1 << 30
with open(t.REPORT, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()
# TEST_HOSTILE=full: databases of all sizes up to 100 MB, and every verb on each.
# What each verb needs beside the run; a verb that is not here is called with the run alone.
WORDS = {"compare": ["{run}", "{run}"], "html": ["-f", "-o", "{out}.html", "{run}"],
         "trace": ["-f", "-o", "{out}.json", "{run}"], "export": ["-f", "-o", "{out}.csv", "{run}"],
         "gate": ["--max-stall-ratio", "0.5", "{run}"],
         "import": ["-f", "-o", "{out}.db", "{run}"]}
MORE = [["--json", "{run}"], ["{run}", "{copy}"], ["html", "-f", "-o", "{out}.html", "{run}", "{copy}"],
        ["batches", "--json", "{run}"], ["top", "{run}"],
        ["trace", "-f", "-o", "{out}.json", "--worst", "5", "{run}"],
        ["--what-if", "workers=1000000", "{run}"],
        ["gate", "--max-stall-ratio", "0.5", "--baseline", "{copy}", "--", "{run}"]]


def verbs():
    """Returns the verbs that the help names, which is made from the table of verbs."""
    text = t.report("--help").out
    found = re.findall(r"^  ([a-z]+) +[a-z]", text.split("\n\n")[1], re.MULTILINE)
    t.check(len(found) >= 8 and set(WORDS) <= set(found), "the verbs of the help", found)
    return found


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def copy_as_rank(run, copy):
    """Copies a run as another rank of its job; a run that cannot be changed stays the same rank."""
    shutil.copy(run, copy)
    database = sqlite3.connect(copy)
    try:
        database.execute("INSERT OR REPLACE INTO t_meta (key, value) VALUES ('rank', '1')")
        database.commit()
    except sqlite3.Error:
        pass
    database.close()


def attack(run, copy, out, words):
    words = [word.format(run=run, copy=copy, out=out) for word in words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = t.run([t.REPORT] + words, env=t.environment(preload=False), timeout=20 * SECONDS,
                 preexec_fn=limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    t.check(done.status in (0, 1, 2, 3), "status", done.status, seconds, words, done.err[-500:])
    t.check(done.status != 2 or done.err.strip(), "an error that says nothing", words)
    for name in (".html", ".json", ".db"):
        if os.path.exists(out + name):
            os.unlink(out + name)
    shutil.rmtree(out + ".csv", ignore_errors=True)
    return seconds, done.status, done.err.strip().split("\n")[-1][-90:]


def main():
    folder = t.scratch()
    lines = [[]] + [[verb] for verb in verbs()]
    lines = [line + WORDS.get(line[0] if line else "", ["{run}"]) for line in lines] + MORE
    only = sys.argv[1:]
    for number, maker in enumerate(hostile_runs.ALL):
        if only and maker.__name__ not in only:
            continue
        run = hostile_runs.build(folder, maker)
        copy = os.path.join(folder, "copy.db")
        copy_as_rank(run, copy)
        size = os.path.getsize(run)
        t.check(size < 100 << 20, maker.__name__, "is too large for the promise", size)
        worst, is_less, first = (0,), hostile_runs.PART == 1, 5 * number % len(lines)
        tried = lines[first:] + lines[:first]
        # Half of the verbs for each database; of the next database it is the other half.
        for line in tried if is_less else tried[::2]:
            took = attack(run, copy, os.path.join(folder, "out"), line)
            worst = max(worst, took + (line[0],))
            # What takes one verb all its time takes it from others for the same reason: one verb, which
            # is another one for each database, tries it whole, and the others try a smaller one.
            if took[0] > 3 and maker in hostile_runs.LESS and not is_less:
                is_less = True
                hostile_runs.build(folder, maker, hostile_runs.LESS[maker])
                copy_as_rank(run, copy)
        t.say("{:26} {:3d} MB, at most {:5.2f} s: {}".format(maker.__name__, size >> 20,
                                                              worst[0], worst[1:]))
        os.unlink(run)
        os.unlink(copy)
    t.finish()


main()
