# SPDX-License-Identifier: Apache-2.0
"""`fold` gives the same report of a job from partials as from its runs, and refuses a bad partial.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlprof_test as t
import rundb


def fold(*arguments):
    return t.report("fold", *arguments)


def differs(one, other, where=""):
    """Returns where two JSON values differ, except in the last digits, as sums in another order do."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [bad for key in one for bad in differs(one[key], other[key], where + "." + key)]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [bad for i, pair in enumerate(zip(one, other))
                for bad in differs(*pair, "{}.{}".format(where, i))]
    if isinstance(one, float) or isinstance(other, float):
        return [] if abs(one - other) <= 1e-6 * max(1, abs(one)) else [(where, one, other)]
    return [] if one == other else [(where, one, other)]


def make_parts(folder, groups):
    """Makes a partial of each group of ranks; returns their folder and paths."""
    out, parts = t.scratch(), []
    for i, group in enumerate(groups):
        parts.append(os.path.join(out, "{}.part".format(i)))
        done = fold(*[os.path.join(folder, "r{}.db".format(rank)) for rank in group], "-o", parts[-1])
        t.equal((done.status, done.out, done.err), (0, "", ""), group)
    return out, parts


def without_why(text):
    """Drops the head, which names the job's folder, and what a rank's own report says: that needs its database."""
    return re.sub(r"  Rank \d+, by its own report .*?\n\n", "", text.partition("\n")[2], count=1, flags=re.S)


def check_equal(name, folder, groups):
    """Compares the texts byte for byte, and all numbers of JSON: partials in any order, folded twice,
    given by their folder, and together with runs."""
    out, parts = make_parts(folder, groups)
    whole = without_why(t.report(folder).out)
    numbers = json.loads(t.report("--json", folder).out)
    above = os.path.join(t.scratch(), "above.part")
    t.equal(fold(*parts[1:], "-o", above).status, 0)
    runs = [os.path.join(folder, "r{}.db".format(rank)) for rank in groups[0]]
    ways = {"partials": parts, "backwards": parts[::-1], "two levels": [above, parts[0]],
            "folder": [out], "runs": [folder], "runs and a partial": runs + [above]}
    for way, words in ways.items():
        done = fold(*words)
        t.equal(done.out.partition("\n")[2], whole, name, "by", way, done.err)
        found = json.loads(fold("--json", *words).out)
        found["run"]["path"] = numbers["run"]["path"]
        t.equal(differs(numbers, found), [], name, "JSON by", way)
    return numbers


def check_jobs():
    found = check_equal("culprit", rundb.job(t.scratch(), [1, 1, 90, 1, 1, 1, 1, 1]),
                        [[0, 1], [2, 3], [4, 5], [6, 7]])
    t.equal((found["job"]["aligned_by"], found["job"]["culprit"]), ("step", 2))
    check_equal("ranks dealt in turn", rundb.job(t.scratch(), [1, 90, 1, 1, 80, 1, 1]),
                [[0, 3, 6], [1, 4], [2, 5]])
    check_equal("alone", rundb.job(t.scratch(), [1, 1, 90, 1], together=False), [[0, 1], [2, 3]])
    found = check_equal("groups", rundb.groups(t.scratch(), [[1, 1, 1, 1], [1, 1, 1, 90]]),
                        [[0, 4, 5], [1, 2], [3, 6, 7]])
    t.equal([group["ranks"] for group in found["job"]["groups"]], [[0, 1, 2, 3], [4, 5, 6, 7]])
    found = check_equal("two", rundb.job(t.scratch(), [1, 1, 90, 90, 1, 1]), [[0, 1, 2], [3, 4, 5]])
    t.equal(found["job"]["culprits"], [2, 3])
    check_equal("many", rundb.job(t.scratch(), [1] * 19 + [90], steps=40),
                [range(0, 7), range(7, 14), range(14, 20)])


def check_uneven():
    """Each epoch has its place in the job also where ranks have more batches than the first rank."""
    folder = t.scratch()
    for number, steps in enumerate((200, 200, 420, 420)):
        rundb.rank(os.path.join(folder, "r{}.db".format(number)), number, [1, 1, 90, 1], steps=steps)
    out, parts = make_parts(folder, [[0, 1], [2, 3]])
    found = json.loads(fold("--json", *parts).out)
    t.equal((found["job"]["aligned_by"], found["job"]["culprit"]), ("step", 2), "uneven", found["job"])


def check_clock():
    """Ranks whose steps' numbers do not fit are aligned by the clock, also in partials."""
    folder = t.scratch()
    for number in range(4):
        path = os.path.join(folder, "r{}.db".format(number))
        rundb.rank(path, number, [1, 1, 90, 1], steps=400)
        with rundb.sqlite3.connect(path) as database:
            database.execute("UPDATE t_batch SET epoch = epoch + ?", (10 * number,))
            database.execute("DELETE FROM t_epoch")
            database.execute("INSERT INTO t_epoch (loader_id, epoch, begin_ns, setup_ns) SELECT"
                             " loader_id, epoch, MIN(begin_ns), 0 FROM t_batch GROUP BY 1, 2")
    found = check_equal("clock", folder, [[0, 1], [2, 3]])
    t.say("aligned by", found["job"]["aligned_by"])
    t.equal(found["job"]["doubts"], [], "clocks that agree")
    with rundb.sqlite3.connect(path) as database:
        database.execute("UPDATE t_meta SET value = value + 20000000000 WHERE key = 'start_unix_ns'")
    found = check_equal("clocks apart", folder, [[0, 1], [2, 3]])["job"]
    if found["aligned_by"] == "clock":
        t.equal([doubt["id"] for doubt in found["doubts"]], ["clocks_apart"])
        t.check(abs(found["clocks_apart_s"] - 20) < 0.1, found)
    else:
        t.equal([doubt["id"] for doubt in found["doubts"]], ["shifted_batches"], found)


def check_shifted():
    """A rank whose batches have other numbers than the others'."""
    folder = rundb.job(t.scratch(), [1, 1, 90, 1])
    t.equal(check_equal("level", folder, [[0, 1], [2, 3]])["job"]["doubts"], [])
    with rundb.sqlite3.connect(os.path.join(folder, "r3.db")) as database:
        database.execute("UPDATE t_batch SET task = -task - 21, batch = batch + 20")
        database.execute("UPDATE t_batch SET task = -task - 1")
    found = check_equal("shifted", folder, [[0, 1], [2, 3]])["job"]
    t.equal((found["aligned_by"], [doubt["id"] for doubt in found["doubts"]]),
            ("step", ["shifted_batches"]), found)
    words = " ".join(t.report(folder).out.split())
    t.check("Less sure the first batch of rank 3 has another number than the others'" in words, words)
    t.check("Less sure.</b> the first batch of rank 3" in t.report("html", folder).out, "page")


def check_several():
    """Each job is a row, and jobs are never mixed; missing ranks are named; a partial has one job."""
    folder = t.scratch()
    for job, late in (("71", [1, 90]), ("72", [1, 1])):
        rundb.job(os.path.join(folder, job), late, job_id=job, attempt="0", world_size="4")
    out = t.scratch()
    parts = [os.path.join(out, name + ".part") for name in ("71", "72")]
    for job, part in zip(("71", "72"), parts):
        t.equal(fold(folder, "--job", job, "-o", part).status, 0)
    whole = json.loads(t.report("--json", folder).out)
    found = json.loads(fold("--json", out).out.replace(out, folder))
    t.equal(differs(whole, found), [], "jobs")
    t.equal(fold(*parts).out.splitlines()[1:-1], t.report(folder).out.splitlines()[1:-1], "jobs")
    t.check("--job ID fold " + parts[0] in fold(*parts).out, "what to type next")
    t.check("2 of 4 ranks" in fold(parts[0]).out, "missing ranks", fold(parts[0]).out)
    t.equal(fold(out, "--job", "71").out.splitlines()[1:], fold(parts[0]).out.splitlines()[1:])
    refused("these runs are of several; --job ID chooses one", *parts, "-o", os.path.join(out, "x"))
    refused("no partial is of job '73'", out, "--job", "73")


def check_live():
    """A rank that still records is folded with the batches so far, and its partial says so."""
    t.need_shim()
    folder, out = t.scratch(), t.scratch()
    host = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shim", "reaper_host.py")
    training = subprocess.Popen([sys.executable, host, "plain", "batches"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, cwd=folder, env=t.environment(
                                    DLPROF_OUT=os.path.join(folder, "r0.db"), DLPROF_QUIET=1))
    training.stdout.readline()
    part, words, end = os.path.join(out, "n.part"), "", time.monotonic() + 30
    while "still recording" not in words and time.monotonic() < end:
        time.sleep(0.2)
        fold("-q", folder, "-f", "-o", part)
        words = fold(part).out
    t.check("still recording" in words, words)
    told = training.communicate(b"\n", timeout=60)[0]
    t.equal(training.returncode, 0, "the training")
    t.wait_for_drain(os.path.join(folder, "r0.db"))
    marked = json.loads(told.splitlines()[-1])["marked"]
    t.equal(t.rows(os.path.join(folder, "r0.db"), "SELECT COUNT(*) AS n FROM batch")[0]["n"], marked, "all")
    t.check("still recording" not in fold(folder).out, "at its end")


def check_ended():
    """Partials too have how ranks ended that failed, and which rank may be the reason."""
    folder = rundb.job(t.scratch(), [1, 1, 90, 1, 1, 1])
    for rank, status in ((1, 15), (2, 9), (3, 15), (5, 256)):
        with rundb.sqlite3.connect(os.path.join(folder, "r{}.db".format(rank))) as database:
            database.execute("INSERT OR REPLACE INTO t_meta VALUES ('pid', 42)")
            database.execute("UPDATE t_process SET exit_status = ? WHERE pid = 42", (status,))
    found = check_equal("ended", folder, [[0, 1, 5], [2, 3], [4]])
    t.equal([row["end"] and row["end"].split(",")[0] for row in found["ranks"]],
            [None, "Killed by SIGTERM", "Killed by SIGKILL", "Killed by SIGTERM", None,
             "Ended with exit status 1"], "ended")
    words = " ".join(fold(*make_parts(folder, [[0, 1], [2, 3], [4, 5]])[1]).out.split())
    t.check("rank 2: Killed by SIGKILL, as when memory runs out; 3 more ranks did not end well" in words,
            words)


def check_sizes():
    """Where ranks disagree on their number, all ranks that may be missing are named."""
    folder = t.scratch()
    for number in range(4):
        rundb.rank(os.path.join(folder, "r{}.db".format(number)), number, [1, 1, 90, 1], steps=40,
                   job_id="9", world_size="8" if number == 1 else "4")
    out, parts = make_parts(folder, [[0, 2], [1, 3]])
    for words in ([folder], parts, parts[::-1]):
        t.check("4 of 8 ranks" in fold(*words).out, words)
        doubt, = json.loads(fold("--json", *words).out)["job"]["doubts"]
        t.check(doubt["id"] == "world_size" and "rank 0 says 4, another says 8" in doubt["text"], doubt)


def check_attempts():
    """The attempts of a job that was started again in the same folder, partly on other hosts, are never mixed;
    a rank's copied database counts once."""
    folder = t.scratch()
    for attempt, late in ((0, [1, 1, 90, 1]), (1, [1, 1, 1, 1])):
        for number in range(4):
            rundb.rank(os.path.join(folder, "{}-{}.db".format(attempt, number)), number, late,
                       start=attempt * 10**12, job_id="9", attempt=str(attempt), world_size="4",
                       host="node{}".format(number // 2 + 5 * attempt * (number % 2)))
    shutil.copytree(folder, os.path.join(folder, "copy"))
    out = t.scratch()
    parts = [os.path.join(out, name) for name in ("0.part", "1.part")]
    for attempt, part in enumerate(parts):
        done = fold("-q", folder, "--job", "9 ({})".format(attempt), "-o", part)
        t.equal((done.status, done.err), (0, ""), "attempt", attempt)
    for words in ([folder], parts, parts[::-1]):
        jobs = json.loads(fold("-q", "--json", *words).out)["jobs"]
        t.equal([(job["run"]["attempt"], job["run"]["ranks"], job["job"]["culprit"],
                  job["job"]["steps"]) for job in jobs],
                [(0, 4, 2, 400), (1, 4, None, 400)], words)
    t.equal(json.loads(fold("--json", "--job", "9 (1)", out).out)["run"]["attempt"], 1)
    refused("no partial is of job '9 (2)'", "--job", "9 (2)", out)


def refused(words, *arguments):
    done = fold(*arguments)
    t.equal((done.status, done.out, done.err.count("\n")), (2, "", 1), arguments, done.err)
    t.check(words in done.err, words, "is not in", done.err)


def check_refusals():
    folder = rundb.job(t.scratch(), [1, 90, 1, 1], steps=40)
    out, parts = make_parts(folder, [[0, 1], [2, 3]])
    with open(parts[0], "rb") as file:
        good = file.read()
    bad = os.path.join(out, "bad")

    def write(content):
        with open(bad, "wb") as file:
            file.write(content)
        return bad

    refused("rank 0 is in '{}', too".format(parts[0]), parts[0], parts[0])
    refused("rank 1 is in", parts[0], os.path.join(folder, "r1.db"))
    refused("'{}': it is cut short".format(bad), parts[1], write(good[:-1]))
    refused("it is cut short", write(good[:100]))
    refused("it is a partial of another version", write(good[:8] + bytes([good[8] + 1]) + good[9:]))
    refused("it is damaged", write(good + b"x"))
    refused("not a dlprof database", write(b"x" * 300))
    refused("no such file", os.path.join(out, "missing.part"))
    refused("is for a partial", "--json", "-o", bad, parts[0])
    refused("exists; -f replaces it", parts[0], "-o", bad)
    refused("will not write over the run itself", parts[0], "-f", "-o", parts[0])
    refused("will not write over the run itself", folder, "-f", "-o", os.path.join(folder, "r1.db"))
    t.equal(fold(parts[0], parts[1]).status, 0, "the good ones")
    # Any flipped bit is found.
    chance = random.Random(1)
    places = list(range(0, 400, 3)) + [chance.randrange(len(good)) for _ in range(100)]
    for place in places:
        flipped = bytearray(good)
        flipped[place] ^= 1 << chance.randrange(8)
        done = fold(write(bytes(flipped)))
        t.equal((done.status, done.out), (2, ""), "byte", place, done.err)
        t.check(repr(bad)[1:-1] in done.err, "byte", place, "the file is not named", done.err)


def check_cut_short():
    """A partial that is cut short by a crash or a full disk does not get its name, nor replaces an older one."""
    folder = rundb.job(t.scratch(), [1, 90, 1, 1])
    out = t.scratch()
    part = os.path.join(out, "n.part")
    write = [t.REPORT, "fold", folder, "-f", "-o", part]
    limit = [sys.executable, "-c", "import os, resource, signal, sys; resource.setrlimit("
             "resource.RLIMIT_FSIZE, (2000, 2000)); signal.signal(signal.SIGXFSZ, getattr(signal,"
             " sys.argv[1])); os.execv(sys.argv[2], sys.argv[2:])"]
    env = t.environment(preload=False)
    for how, status in (("SIG_DFL", -25), ("SIG_IGN", 2)):
        for before in ([], ["n.part"]):
            if before:
                t.equal(fold(folder, "-f", "-o", part).status, 0)
            good = fold(part).out if before else None
            done = t.run(limit + [how] + write, env=env)
            t.equal(done.status, status, how, done.err)
            t.equal([name for name in os.listdir(out) if name[0] != "."], before, how, "is left")
            t.check(how == "SIG_DFL" or len(os.listdir(out)) == len(before), "rubbish", os.listdir(out))
            t.equal(before and fold(part).out, before and good, how, "what was there")
            for name in os.listdir(out):
                os.unlink(os.path.join(out, name))


check_cut_short()
check_live()
check_ended()
check_sizes()
check_attempts()
check_jobs()
check_uneven()
check_shifted()
check_clock()
check_several()
check_refusals()
t.finish()
