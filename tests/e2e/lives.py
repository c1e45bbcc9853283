# SPDX-License-Identifier: Apache-2.0
"""A program that becomes itself, or another, by execve() while it records: nothing of any of them is
lost, each is a life of the process, and what is said at the end is said once, of all."""
import json
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (DLPROF, PYTHON, ROOT, check, databases, environment, equal,  # noqa
                         finish, need_shim, need_torch, report, rows, run, say, scratch, use_stub,
                         wait_for_drain)

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lives_host.py")
MARKS = "marks:50:1:2"
LINE = re.compile(r"^dlprof: (\d+) batch(?:es)?, (\d+) % of the time waiting for data"
                  r"(?: \(too few for a verdict\))?, "
                  r"dlprof-report (\S+)$", re.M)


def program(folder, *words):
    return [PYTHON, "-W", "ignore", HOST, os.path.join(folder, "log")] + list(words)


def lives(database):
    """How each ended."""
    return [row["exit"] for row in rows(database, "SELECT exit FROM process WHERE role = 'main' "
                                        "ORDER BY start_ns")]


def stored(database):
    """Batches, and those that a promised key tells apart."""
    row, = rows(database, """SELECT COUNT(*) AS n, COUNT(DISTINCT rank || ' ' || loader_id || ' ' ||
                epoch || ' ' || batch) AS keys FROM batch""")
    return row["n"], row["keys"]


def record(name, words, status=0, prefix=(), **changes):
    """Runs it; the database and what was said on stderr."""
    folder = scratch()
    database = os.path.join(folder, "run.db")
    done = run(list(prefix) + program(folder, *words), cwd=folder, env=environment(
        not prefix, DLPROF_OUT=database, TMPDIR=folder, **changes))
    equal(done.status, status, name, "exit status", done.err)
    wait_for_drain(database)
    return database, done.err


def check_chain(name, words, batches, programs):
    """One database with all; each program is a life, has loaders of its own, and ends where the next
    begins, or a moment before. The line at exit, and the report."""
    database, err = record(name, words)
    equal(databases(os.path.dirname(database)), [database], name, "databases")
    equal(stored(database), (batches, batches), name, "batches, and their keys")
    found = rows(database, "SELECT exit, start_ns, end_ns FROM process WHERE role = 'main' "
                 "ORDER BY start_ns")
    equal(lives(database), ["exec"] * (programs - 1) + ["clean"], name, "lives")
    check(all(row["start_ns"] < row["end_ns"] for row in found) and
          all(one["end_ns"] <= two["start_ns"] for one, two in zip(found, found[1:])), name,
          "lives follow each other", found)
    equal(rows(database, "SELECT COUNT(*) AS n FROM loader"), [{"n": programs}], name, "loaders")
    equal(rows(database, "SELECT * FROM loss"), [], name, "lost")
    judged = json.loads(report("--json", database).out)
    ratio = judged["stall"]["ratio"]
    lines = LINE.findall(err)
    if equal([line[0] for line in lines], [str(batches)], name, "batches of the line at exit", err):
        check(abs(int(lines[0][1]) - ratio * 100) <= 1, name, "the line and the report", err, ratio)
    return database, judged


def stamps(database):
    """Of the programs, by their own clock: what they waited, and in what time."""
    with open(os.path.join(os.path.dirname(database), "log")) as file:
        found = [list(map(int, line.split()))[1:] for line in file]
    return found


def check_account():
    """The time from one program's last step to the next one's first batch is in no share."""
    words = [MARKS, "nap:700", "exec", "nap:700", MARKS, "nap:700", "exec", MARKS]
    database, judged = check_chain("gaps", words, 150, 3)
    found = stamps(database)
    programs = [found[at:at + 50] for at in (0, 50, 100)]
    time_s = sum(of[-1][2] - of[0][1] for of in programs) / 1e9
    wait_s = sum(taken - asked for of in programs for asked, taken, _ in of[1:]) / 1e9
    stall = judged["stall"]
    check(abs(stall["time_s"] - time_s) < 0.05 * time_s, "the account's time", stall["time_s"], time_s)
    check(abs(stall["wait_s"] - wait_s) < 0.05 * wait_s, "what was waited", stall["wait_s"], wait_s)
    check(judged["run"]["duration_s"] > time_s + 2, "how long the run was", judged["run"])
    check("End " not in report(database).out, "how it ended")


def check_launcher():
    """The launcher's screen is of all, and says what the report says; so where it stands in between,
    of the run that it began itself."""
    database, err = record("run", [MARKS, "exec", MARKS], prefix=[DLPROF, "run"])
    equal(stored(database), (100, 100), "dlprof run: batches")
    check("100 batches of several loaders" in err and not LINE.findall(err), "dlprof run", err)
    judged = json.loads(report("--json", database).out)
    check("{:.0f} % of the time".format(judged["stall"]["ratio"] * 100) in err, "dlprof run", err)
    words = [MARKS, "exec={} run -o second.db".format(DLPROF), MARKS, "exec", MARKS]
    for prefix in ((), [DLPROF, "run"]):
        name = "in between" + " of another's" * bool(prefix)
        database, err = record(name, words, prefix=prefix)
        second = os.path.join(os.path.dirname(database), "second.db")
        wait_for_drain(second)
        equal((stored(database), stored(second)), ((50, 50), (100, 100)), name, "batches")
        check("100 batches of several loaders" in err, name, err)
        equal(["50 batches in 1 epoch" in err, "killed" in err], [bool(prefix), False], name, err)


def check_ends():
    """What comes after the last program that records."""
    database, err = record("another program", [MARKS, "exec", MARKS, "exec=sh -c sleep${IFS}1"])
    equal((stored(database), lives(database)), ((100, 100), ["exec", "exec"]), "another program")
    check("End " not in report(database).out and not LINE.findall(err), "another program", err)
    database, err = record("killed", [MARKS, "exec", MARKS, "kill"], status=-signal.SIGKILL)
    equal((stored(database), lives(database)), ((100, 100), ["exec", "gone"]), "killed")
    check(re.search("End  .*[Kk]illed.*, after 100 batches", report(database).out), "killed",
          report(database).out)


def check_forked():
    """A child of the run becomes others: it is a process of the run, and its parent prints the line."""
    database, err = record("forked", [MARKS, "fork", "marks:30:1:1", "exec", "marks:20:1:1", "exec",
                                      "marks:10:1:1"])
    equal(stored(database), (110, 110), "forked: batches")
    equal(sorted(row["n"] for row in rows(database, "SELECT COUNT(*) AS n FROM process GROUP BY pid")),
          [1, 3], "forked: lives")
    equal([found[0] for found in LINE.findall(err)], ["50"], "forked: the line", err)


def make_quick(folder):
    """A program in C: five batches, as many times anew as it is told, and then another program."""
    source, quick = os.path.join(folder, "quick.c"), os.path.join(folder, "quick")
    with open(source, "w") as file:
        file.write("""#include <dlprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **arguments)
{
	int left = atoi(arguments[1]) - 1;
	for (int i = 0; i < 5; i++) {
		dlprof_batch_begin();
		dlprof_batch_end(i);
	}
	sprintf(arguments[1], "%03d", left);
	if (left)
		execv(arguments[0], arguments);
	if (count > 2)
		execv(arguments[2], arguments + 2);
	return 0;
}
""")
    done = run(["cc", "-I", os.path.join(ROOT, "include"), source, "-o", quick])
    equal(done.status, 0, "cc", done.err)
    return quick


def check_lines():
    """Each program has lines of code of its own, also where there was none of Python before."""
    folder = scratch()
    database = os.path.join(folder, "run.db")
    done = run([make_quick(folder), "001"] + program(folder, "marks:400:2:3", "exec", "marks:400:2:3"),
               env=environment(DLPROF_OUT=database, TMPDIR=folder))
    wait_for_drain(database)
    equal((done.status, stored(database)), (0, (805, 805)), "lines", done.err)
    found = {row["loader_id"]: row["n"] for row in rows(
        database, "SELECT loader_id, SUM(count) AS n FROM stack GROUP BY loader_id")}
    # The short program's loader may be read after the next one's, and so have a higher number.
    long = [row["loader_id"] for row in rows(
        database, "SELECT loader_id FROM batch GROUP BY loader_id HAVING COUNT(*) = 400")]
    equal(len(long), 2, "loaders of 400 batches")
    check(all(found.get(loader, 0) > 10 for loader in long), "lines: samples of each loader", long, found)


def check_quick():
    """Many programs, each over in a moment, and a drain that sees most of them only when they are."""
    name, count = "quick", 60
    folder = scratch()
    quick = make_quick(folder)
    database = os.path.join(folder, "run.db")
    done = run([quick, "{:03d}".format(count)], env=environment(DLPROF_OUT=database, TMPDIR=folder))
    wait_for_drain(database)
    equal((done.status, stored(database)), (0, (5 * count, 5 * count)), name)
    equal(lives(database), ["exec"] * (count - 1) + ["clean"], name, "lives")
    check("dlprof: {} batches".format(5 * count) in done.err, name, done.err)
    equal(sorted(os.listdir(folder)), ["quick", "quick.c", "run.db"], name, "left behind")


def check_elastic():
    """The agent of torchrun starts its ranks anew: the attempts have databases of their own."""
    folder = scratch()
    training = os.path.join(folder, "rank.py")
    with open(training, "w") as file:
        file.write("""
import os, sys, time, torch
from torch.utils.data import DataLoader
again, rank = (int(os.environ[name]) for name in ("TORCHELASTIC_RESTART_COUNT", "RANK"))
class Samples:
    def __len__(self):
        return 30
    def __getitem__(self, index):
        return index
for number, batch in enumerate(DataLoader(Samples(), num_workers=1), 1):
    time.sleep(0.002)
    if not again and rank and number == 20:
        time.sleep(3)  # the other rank has all of its own
        sys.exit(7)
""")
    # As torch 1.13 does not know under Python 3.11 that it has nothing to redirect.
    torchrun = [PYTHON, "-W", "ignore", "-m", "torch.distributed.run", "--standalone",
                "--nproc_per_node", "2", "--redirects", "1", "--tee", "1", "--log_dir", folder]
    env = environment(DLPROF_OUT=os.path.join(folder, "r%r.db"), TMPDIR=folder, OMP_NUM_THREADS="1")
    if run(torchrun + ["--no_python", "true"], env=dict(env, DLPROF_DISABLE="1")).status:
        return say("no torchrun that works: ranks are not tried")
    done = run(torchrun + ["--max_restarts", "1", training], env=env, cwd=folder)
    equal(done.status, 0, "torchrun", done.err)
    found = {}
    for database in databases(folder):
        wait_for_drain(database)
        meta = {row["key"]: row["value"] for row in rows(database, "SELECT * FROM meta")}
        equal((meta["host"], meta["kernel"]), (os.uname().nodename, os.uname().release), "torchrun: the machine")
        found[int(meta["rank"]), int(meta["attempt"])] = stored(database)[0]
    equal(found, {(0, 0): 30, (1, 0): 20, (0, 1): 30, (1, 1): 30}, "torchrun: rank, attempt, batches")


def main():
    need_shim()
    need_torch()
    check_chain("marks", [MARKS, "exec"] * 3 + [MARKS], 200, 4)
    check_account()
    check_launcher()
    check_ends()
    check_forked()
    check_quick()
    check_lines()
    check_elastic()
    use_stub()
    check_chain("torch", ["torch:60:2", "exec", "torch:60:2", "exec", "torch:40:2"], 160, 3)
    check_chain("no workers", ["torch:40:0", "exec", "torch:40:0"], 80, 2)
    check_chain("another loader", ["torch:40:1", "exec", MARKS, "exec", "torch:40:0"], 130, 3)
    finish()


main()
