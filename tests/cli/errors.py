# SPDX-License-Identifier: Apache-2.0
"""Each error gives one clear line and the right exit status, and overwrites nothing."""
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import rundb

SANITIZER = 97  # exit status of a sanitizer's error, which no other error has


def report(*arguments, **keywords):
    env = t.environment(preload=False, ASAN_OPTIONS="exitcode={}".format(SANITIZER),
                        UBSAN_OPTIONS="exitcode={0}:halt_on_error=1".format(SANITIZER))
    return t.run([t.REPORT] + list(arguments), env=env, **keywords)


def refused(words, *arguments, **keywords):
    """Checks for status 2, no standard output, and one line with these words on standard error."""
    result = report(*arguments, **keywords)
    t.equal(result.status, 2, arguments, result.err)
    t.equal(result.out, "", arguments)
    t.equal(result.err.count("\n"), 1, arguments, result.err)
    t.check(result.err.startswith("dlprof-report: ") and words in result.err, arguments,
            "does not say", words, result.err)


def check_usage(run):
    refused("something is missing: dlprof-report compare A.db B.db", "compare", run)
    refused("'comparison' is neither a verb nor a file", "comparison", run, run)
    refused("is one too many: dlprof-report batches [RUN.db]", "batches", run, run)
    refused("unknown option --html", "--html", run)
    refused("--csv does not go with dlprof-report; it goes with: dlprof-report batches", "--csv", run)
    refused("'x' is not a whole number", "--epoch", "x", run)
    refused("no epoch 7: its loader 1 has 1 epoch, counted from 0", "--epoch", "7", run)
    refused("no batch from 5000 on: its loader 1 has", "--batches", "5000:", run)
    refused("'compre' is neither a verb nor a file; did you mean compare?", "compre", run, run)
    refused("unknown option --jsn; did you mean --json?", "--jsn", run)
    refused("did you mean workers? They are workers=N, prefetch_factor=N", "--what-if", "worker=8",
            run)
    refused("nothing is called 'head_of_lin'; did you mean head_of_line?", "--explain", "head_of_lin")
    refused("--explain all lists every name", "--explain", "something")
    refused("is of rank 0, not 3", "--rank", "3", run)
    refused("has no loader 9", "--loader", "9", run)
    refused("has no loader 9", "batches", "--loader", "9", run)


def check_files(folder, run):
    def path(name, content=None):
        name = os.path.join(folder, name)
        if content is not None:
            with open(name, "wb") as file:
                file.write(content)
        return name

    nothing = os.path.join(folder, "nothing")
    os.mkdir(nothing)
    for verb in ([], ["batches"]):
        refused("cannot open '{}': no such file".format(path("none.db")), *verb, path("none.db"))
        refused("'{}' holds no run of dlprof".format(nothing), *verb, nothing)
        refused("the file is empty", *verb, path("empty.db", b""))
        refused("damaged, or not a dlprof database", *verb, path("text.db", b"hello\n" * 1000))
        refused("damaged, or not a dlprof database", *verb, path("short.db", b"SQLite format 3\0"))
        other = path("other.db")
        if not os.path.exists(other):
            database = sqlite3.connect(other)
            database.execute("CREATE TABLE bookmarks (a)")
            database.close()
        refused("not one of dlprof's", *verb, other)
        refused("newer dlprof", *verb, rundb.build(path("newer.db"), version=99))
        bare = path("bare.db")
        database = sqlite3.connect(bare)
        database.execute("PRAGMA application_id = {}".format(rundb.APPLICATION_ID))
        database.execute("PRAGMA user_version = 1")
        database.execute("CREATE TABLE IF NOT EXISTS t_other (a)")
        database.commit()
        database.close()
        refused("damaged", *verb, bare)
    result = report(path("bad\x1b[2Jname.db"))
    t.check("\x1b" not in result.err, "a file name that is no message to the terminal")
    refused("cannot open", "/dev/null/x.db")
    if os.geteuid() == 0:
        # root may read everything, other users may not
        closed = shutil.copy(run, path("closed.db"))
        os.chmod(closed, 0o600)
        os.chmod(folder, 0o755)
        shown = os.path.join(folder, "dlprof-report")
        shutil.copy(t.REPORT, shown)
        result = subprocess.run([shown, closed], user=65534, group=65534, capture_output=True,
                                env=t.environment(preload=False))
        if b"error while loading" not in result.stderr:
            t.equal(result.returncode, 2, result.stderr)
            t.check(b"permission denied" in result.stderr, result.stderr)


def check_two_runs_of_a_rank(folder, run):
    """Two runs that are no job are refused, with a hint to `compare`."""
    run = shutil.copy(run, os.path.join(folder, "run.db"))
    other = shutil.copy(run, os.path.join(folder, "other.db"))
    refused("these 2 runs are all of rank 0, so they are not ranks of one job; to compare two of "
            "them: dlprof-report compare ", run, other)
    refused("dlprof-report compare ", "html", "-o", os.path.join(folder, "x.html"), run, other)
    found = report(folder)
    t.equal(found.status, 0, found.err)
    t.check("there is a later run of rank 0" in found.err and "compare A B" in found.err, found.err)


def check_empty_run(folder):
    path = rundb.build(os.path.join(folder, "nothing.db"))
    result = report(path)
    t.equal((result.status, result.err), (3, ""), "a run without batches")
    t.check("INCOMPLETE   no batch was seen" in result.out, result.out)
    t.equal(report("--json", path).status, 3)
    result = report("batches", "--csv", path)
    t.equal((result.status, len(result.out.splitlines())), (3, 1), "the heading is still there")


def check_output(folder, run):
    target = os.path.join(folder, "report.txt")
    t.equal(report("-o", target, run).status, 0)
    with open(target, encoding="utf-8") as file:
        t.check("INPUT-BOUND" in file.read(), "-o")
    with open(target, "w", encoding="ascii") as file:
        file.write("precious")
    refused("exists; -f replaces it", "-o", target, run)
    with open(target, encoding="ascii") as file:
        t.equal(file.read(), "precious", "nothing is overwritten")
    t.equal(report("-f", "-o", target, run).status, 0)
    t.check(os.path.getsize(target) > 100, "-f")
    before = os.stat(run)
    for name in (run, os.path.join(folder, "..", os.path.basename(folder), os.path.basename(run))):
        refused("will not write over the run itself", "-f", "-o", name, run)
    os.symlink(run, os.path.join(folder, "link"))
    refused("will not write over the run itself", "-f", "-o", os.path.join(folder, "link"), run)
    t.equal(os.stat(run).st_mtime_ns, before.st_mtime_ns, "the run is untouched")
    refused("no such file or directory".capitalize(), "-o", os.path.join(folder, "no/x"), run)
    t.equal(report("-o", "-", run).out, report(run).out, "-o -")
    gone = os.path.join(folder, "gone.txt")
    refused("cannot open", "-o", gone, os.path.join(folder, "none.db"))
    t.check(not os.path.exists(gone), "a failed report leaves no file")


def run_into(stdout, *arguments, **keywords):
    return subprocess.run([t.REPORT] + list(arguments), stdout=stdout, stderr=subprocess.PIPE,
                          env=t.environment(preload=False), **keywords)


def check_full_disk(folder, run):
    big = rundb.build(os.path.join(folder, "big.db"),
                      [rundb.loader(rundb.simulate(3000, 4, 20, 10), workers=4)])
    for arguments in ([run], ["--json", run], ["batches", run], ["batches", "--csv", big],
                      ["batches", "--json", big], ["--help"], ["--version"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            result = run_into(full, *arguments)
        t.equal(result.returncode, 2, arguments)
        t.equal(result.stderr, b"dlprof-report: cannot write standard output: "
                               b"No space left on device\n", arguments)
        if arguments[0][0] != "-" or arguments[0] == "--json":
            refused("'/dev/full': No space left on device", "-o", "/dev/full", *arguments)
    target = os.path.join(folder, "cut.csv")
    result = run_into(subprocess.DEVNULL, "batches", "--csv", "-o", target, big,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)))
    t.check(result.returncode in (2, -25), "a file that may not grow", result)
    before = os.stat(run).st_size
    result = run_into(None, run, preexec_fn=lambda: os.close(1))
    t.equal(result.returncode, 2, "closed standard output", result.stderr)
    t.equal(os.stat(run).st_size, before, "and the run is not written into")
    result = run_into(subprocess.DEVNULL, run, preexec_fn=lambda: (os.close(0), os.close(2)))
    t.equal(result.returncode, 0, "closed standard input and error")


def check_damage(folder):
    """A database that was cut, or has wrong bytes, gives an answer or an error, and no crash or hang."""
    whole = rundb.build(os.path.join(folder, "whole.db"),
                        [rundb.loader(rundb.simulate(300, 4, 20, 10), workers=4)])
    with open(whole, "rb") as file:
        content = file.read()
    chance = random.Random(5)
    damaged = os.path.join(folder, "damaged.db")
    seen = {0: 0, 2: 0, 3: 0}

    def probe(data, what):
        with open(damaged, "wb") as file:
            file.write(data)
        for arguments in ([damaged], ["--json", damaged], ["batches", "--csv", damaged]):
            result = report(*arguments, timeout=30)
            t.check(result.status in seen, what, arguments, result.status, result.err[-2000:])
            seen[result.status] = seen.get(result.status, 0) + 1
            t.check(result.err.count("\n") == (1 if result.status == 2 else 0), what, result.err)

    for length in (1, 15, 16, 17, 99, 100, 101, 512, 4095, 4096, 4097, 8192, len(content) // 3,
                   len(content) // 2, len(content) - 4096, len(content) - 1):
        probe(content[:length], "cut at {}".format(length))
    for round_ in range(60):
        data = bytearray(content)
        for _ in range(chance.choice((1, 4, 64))):
            data[chance.randrange(100 if round_ % 4 == 0 else len(data))] = chance.randrange(256)
        probe(bytes(data), "turned over, round {}".format(round_))
    t.check(seen[0] and seen[2], "both kinds of outcome occur", seen)
    t.say("damaged files:", seen)


def check_absurd_values(folder):
    """A valid database with senseless values gives an answer or an error."""
    values = [None, -1, 0, 1, 2**31, 2**62, 2**63 - 1, -2**63, 1e300, -1.5, "text", b"\xff\x00"]
    chance = random.Random(6)
    for round_ in range(40):
        batches = []
        for task in range(60):
            batch = rundb.simulate(1, 2, 20, 10)[0]
            for name in chance.sample(sorted(batch), 6):
                batch[name] = chance.choice(values)
            batch.update(epoch=chance.choice((0, 0, 1, -5, 2**62)), task=task)
            batches.append(batch)
        path = os.path.join(folder, "absurd.db")
        rundb.build(path, [rundb.loader(batches, workers=chance.choice(values),
                                        prefetch_factor=chance.choice(values),
                                        kind=chance.choice((None, "k" * 500, "\x1b", 7)))],
                    meta={key: chance.choice(values) for key in
                          ("rank", "cpus", "start_ns", "start_unix_ns", "host", "patch_missing")},
                    losses=[chance.choice((0, 5, 2**63 - 1, -3)) for _ in range(1)])
        for arguments in ([path], ["--json", path], ["batches", path], ["batches", "--json", path]):
            result = report(*arguments)
            t.check(result.status in (0, 2, 3), "absurd", round_, arguments, result.status,
                    result.err[-3000:])
            t.check("nan" not in result.out.lower() and "inf," not in result.out.lower(), round_,
                    arguments)


def main():
    folder = t.scratch()
    run = rundb.lockstep(os.path.join(folder, "run.db"))
    check_usage(run)
    check_files(folder, run)
    check_two_runs_of_a_rank(t.scratch(), run)
    check_empty_run(folder)
    check_output(folder, run)
    check_full_disk(folder, run)
    check_damage(folder)
    check_absurd_values(folder)
    t.finish()


main()
