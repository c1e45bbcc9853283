# SPDX-License-Identifier: Apache-2.0
"""Several runs, or a folder of runs, are reported as ranks of one job, with the rank that delays the others."""
import contextlib
import json
import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlprof_test as t
import rundb

UTF8 = {"LC_ALL": "C.UTF-8"}


def show(*arguments, **changes):
    return t.run([t.REPORT] + list(arguments),
                 env=t.environment(preload=False, **dict(UTF8, **changes)))


def job(late, **keywords):
    return rundb.job(t.scratch(), late, **keywords)


def load(*arguments):
    result = t.report("--json", *arguments)
    t.equal((result.status, result.err), (0, ""), arguments)
    return json.loads(result.out)


def check_culprit():
    folder = job([1, 1, 90, 1])
    found = load(folder)
    t.equal((found["schema"], found["verdict"], found["starved"], found["run"]["ranks"]),
            ("dlprof.report/3", "highly_input_bound", True, 4))
    t.equal((found["job"]["aligned_by"], found["job"]["window_steps"], found["job"]["culprit"]),
            ("step", 1, 2))
    t.check(abs(found["stall"]["ratio"] - 30 / 131) < .01, found["stall"])
    t.equal(found["stall"]["at_most"], False, "steps are longer by what rank 2 waits")
    t.equal([row["rank"] for row in found["ranks"]], [0, 1, 2, 3])
    t.equal([row["verdict"][:3] for row in found["ranks"]], ["not", "not", "hig", "not"])
    t.equal([row["culprit"] for row in found["ranks"]], [False, False, True, False])
    t.check(found["ranks"][2]["blame_share"] > .97, found["ranks"][2])
    for row in found["ranks"]:
        alone = load(row["path"])["stall"]
        t.equal(row["stall_ratio"], alone["ratio"], "a rank's ratio is that of its own report")
    spread = found["job"]["spread"]
    ratios = sorted(row["stall_ratio"] for row in found["ranks"])
    t.equal((spread["min"], spread["median"], spread["max"]), (ratios[0], ratios[1], ratios[3]))
    files = [os.path.join(folder, "r{}.db".format(rank)) for rank in (3, 0, 2)]
    t.equal([row["rank"] for row in load(*files)["ranks"]], [0, 2, 3], "several files")
    text = show(folder).out
    for words in ("Spread", "HIGHLY INPUT-BOUND", "Rank 2 (node1) waits for data",
                  "4 ranks on 2 hosts", "2*", "r2.db"):
        t.check(words in text, "missing:", words, text)
    for width in (40, 60, 80):
        wide = show(folder, COLUMNS=str(width)).out
        t.check(max(map(len, wide.splitlines())) <= width, "wider than", width, wide)
    t.check(show("--ascii", folder).out.isascii(), "--ascii")
    # The report of one rank.
    one = load("--rank", "2", folder)
    t.equal((one["ranks"][0]["rank"], one["run"]["path"]), (2, os.path.join(folder, "r2.db")))
    t.equal(load(*files, "--rank", "0")["ranks"][0]["rank"], 0)
    t.check("rank" not in t.report("batches", "--rank", "1", folder).err, "batches of a rank")
    result = t.report("compare", "--rank", "1", "--json", folder, files[2])
    t.equal(result.status, 2, "rank 1 against a run of rank 2", result.err)
    result = t.report("compare", "--rank", "1", "--json", folder, folder)
    t.equal((result.status, json.loads(result.out)["result"]), (0, "no_difference"))


def check_shapes():
    found = load(job([90, 90, 90, 91]))
    t.equal((found["verdict"], found["job"]["culprit"]), ("highly_input_bound", None), "all alike")
    found = load(job([1, 1, 1, 1]))
    t.equal((found["verdict"], found["job"]["culprit"]), ("not_input_bound", None), "none")
    for waits in ([1, 1, 1, 1], [90, 90, 90, 90]):
        found = load(job(waits))
        t.check(abs(found["stall"]["ratio"] - found["ranks"][0]["stall_ratio"]) < 1e-5,
                "the job's ratio is that of ranks that are all alike", found["stall"])
    found = load(job([1, 1, 90, 1], together=False))
    t.equal((found["job"]["aligned_by"], found["job"]["culprit"]), ("none", None), "each its own")
    many = job([1] * 19 + [90], steps=40)
    t.equal(load(many)["job"]["culprit"], 19)
    text = show(many).out
    t.check("19*" in text and "and 4 more; --json has all" in text, "the worst of many", text)


def check_words():
    """Where no rank is to blame the report says so."""
    loads = rundb.loader(rundb.simulate(8, 1, 1, 1), pid=43)
    for waits, keywords, words, others in (
            ([90, 90, 90, 90], {}, "No single rank is to blame: look at what they share",
             ("One rank", "Rank 0 loads")),
            # Each rank waits for 4.4 % of its time, and always another one.
            ([12, 12, 12], {"in_turn": True}, "Each rank by itself is not input-bound: look first at the steps",
             ("No single rank", "they share")),
            # The other ranks' loaders are as slow: 125 ms a batch.
            ([1, 1, 90, 1], {"load_ms": 250}, "One rank waits longest in 98 % of the lost time, "
             "but if its batches came at once, the others would wait for their own: look at what they "
             "share", ("No single rank", "Rank 0 loads")),
            # Rank 2 waits longest, but rank 0's own report is to be read.
            ([90, 90, 95, 90], {"kind": "accelerate", "inner": [loads]},
             "Rank 0 loads the batches of all ranks", ("No single rank", "One rank"))):
        text = " ".join(show(job(waits, **keywords)).out.split())
        t.check(words in text, "missing:", words, text)
        t.check(not any(other in text for other in others), others, text)
        t.check("Rank 0" not in words or "r0.db" in text.rpartition("More")[2], text)
        t.equal("Rank 0" in words, " - highly" in text, "to blame", text)


def check_why():
    """The job's screen has cause and remedies of the rank to look at first, as that rank's own report has them."""
    folder = job([1, 1, 90, 1], load_ms=45)
    own = show(os.path.join(folder, "r2.db")).out
    why, remedy = re.search(r"Why +(.*?)\n *\n? *Next +1\. (.*?):", own, re.S).groups()
    text = show(folder).out
    words = "Rank 2, by its own report (gains are those of this rank): Why {} Next 1. {}:".format(why, remedy)
    t.check(" ".join(words.split()) in " ".join(text.split()), words, text)
    t.check(text.index("Rank 2, by") < text.index("To blame"), "before the table", text)
    t.check("#### Rank 2, by its own report" in show("--markdown", folder).out, "Markdown")
    result = show("--loader", "9", folder)
    t.check("by its own report" not in result.out and not result.err, "no rank has this loader", result)
    # A rank that needs nothing says nothing, and neither does one of several jobs.
    t.check("by its own report" not in show(job([1, 1])).out, "nothing to mend")
    for number in range(2):
        rundb.job(os.path.join(folder, str(number)), [1, 90], job_id=str(number))
    t.check("by its own report" not in show(*[os.path.join(folder, str(number), "r{}.db".format(rank))
                                              for number in range(2) for rank in range(2)]).out, "two jobs")


def check_no_loss():
    """Nobody is to blame in a job that is not input-bound."""
    text = show(job([1, 1])).out
    t.check(" - not" in " ".join(text.split()), text)


def check_inner():
    """A loader that loads for accelerate's dispatcher is named, and takes a batch for each of two ranks a step."""
    outer, inner, now = [], [], rundb.START_NS
    for batch in range(200):
        for part in range(2):
            step = 10 if part else 0.02
            inner.append({"epoch": 0, "task": 2 * batch + part, "batch": 2 * batch + part, "begin_ns": now,
                          "wait_ns": 40 * rundb.MS, "compute_ns": 20000, "step_ns": int((40 + step) * rundb.MS),
                          "head_ready": 0, "worker_id": 0, "load_ns": 40 * rundb.MS, "qdepth": 0})
            now += int((40 + step) * rundb.MS)
        outer.append({"epoch": 0, "task": batch, "batch": batch, "begin_ns": now - 90 * rundb.MS,
                      "wait_ns": 80 * rundb.MS, "compute_ns": 10 * rundb.MS, "step_ns": 90 * rundb.MS})
    path = rundb.build(os.path.join(t.scratch(), "inner.db"), [
        rundb.loader(outer, kind="accelerate", in_order=None, prefetch_factor=None),
        rundb.loader(inner, workers=1, place="train.py:8 in main")])
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE t_epoch SET nested = loader_id - 1")
    text = " ".join(show(path).out.split())
    t.check("Loader 2 (train.py:8 in main) loads for it: --loader 2 says why" in text, text)
    text = " ".join(show(path, "--loader", "2").out.split())
    t.check("1 worker loads 25 batches/s, the training would take 200." in text, text)


def check_loads():
    """If the culprit's loads take longer than the others', the report says so."""
    for load_ms in (45, 44):
        folder = t.scratch()
        for number in range(4):
            rundb.rank(os.path.join(folder, "r{}.db".format(number)), number, [1, 1, 90, 1],
                       load_ms=load_ms if number == 2 else 30)
        text = " ".join(show(folder).out.split())
        t.check("Rank 2 (node1) waits" in text, text)
        t.equal("Its loads take 45.0 ms on average, those of other ranks 30.0 ms." in text, load_ms == 45, text)


def check_groups():
    """Groups of ranks that never meet are told apart, and the group is named that loses time."""
    folder = rundb.groups(t.scratch(), [[1, 1, 1, 1], [1, 1, 1, 90]])
    found = load(folder)
    t.equal([(group["ranks"], group["culprits"]) for group in found["job"]["groups"]],
            [([0, 1, 2, 3], []), ([4, 5, 6, 7], [7])])
    t.check(found["job"]["groups"][0]["stall_ratio"] < .02, found["job"]["groups"])
    t.check(abs(found["stall"]["ratio"] - 30 / 131) < .01, "that of the worst group", found["stall"])
    t.equal((found["verdict"], found["job"]["culprit"]), ("highly_input_bound", 7))
    t.equal([row["culprit"] for row in found["ranks"]], [False] * 7 + [True])
    text = " ".join(show(folder).out.split())
    for words in ("Ranks 0-3 and 4-7 do not wait for each other. Ranks 4-7 lose 23 % of their time",
                  "Rank 7 (node3) waits for data in 98 % of the lost time", "7*"):
        t.check(words in text, "missing:", words, text)
    t.equal(load(job([1, 1, 90, 1]))["job"]["groups"], [], "all meet")
    # A culprit stays one, whatever is found in groups that are judged later.
    folder = rundb.groups(t.scratch(), [[1, 1, 1, 90], [1, 1, 1, 1]])
    found = load(folder)["job"]
    t.equal((found["culprit"], found["culprits"], [group["culprits"] for group in found["groups"]]),
            (3, [3], [[3], []]), "the first group's")
    t.check("Rank 3 (node1) waits" in " ".join(show(folder).out.split()), "is named")


def check_two():
    """Two equally bad ranks are named together, with the gain of mending both."""
    folder = job([1, 1, 90, 90, 1, 1, 1, 1])
    found = load(folder)
    t.equal((found["job"]["culprit"], found["job"]["culprits"]), (None, [2, 3]))
    t.equal([row["rank"] for row in found["ranks"] if row["culprit"]], [2, 3])
    gain = 131 / 101
    t.check(found["job"]["gain_min"] < gain < found["job"]["gain_max"] < 1.4, found["job"])
    text = " ".join(show(folder).out.split())
    for words in ("Ranks 2-3 (node1) wait for data in 98 % of the lost time",
                  "If their batches were always ready", "2*", "3*", "the culprits"):
        t.check(words in text, "missing:", words, text)
    t.equal(load(job([90, 90, 90, 90]))["job"]["culprits"], [], "all alike")


def check_clocks():
    """Ranks that are aligned by step need no common clock."""
    level = load(job([1, 1, 90, 1]))
    for apart_s in (5, 300, -3600):
        folder = t.scratch()
        for rank in range(4):
            rundb.rank(os.path.join(folder, "r{}.db".format(rank)), rank, [1, 1, 90, 1],
                       start=rank * apart_s * 10**9)
        found = load(folder)
        t.equal((found["job"], found["stall"]), (level["job"], level["stall"]), apart_s, "s apart")


def check_folder():
    """Other files in a folder are named and skipped; of several runs of a rank the latest counts."""
    folder = job([1, 90])
    rundb.rank(os.path.join(folder, "again.db"), 1, [90, 1], start=10**9)
    for name, content in (("notes.txt", b"hello\n"), ("empty.db", b""), ("r9.db-journal", b"x"),
                          (".hidden", b"x"), ("cut.db", b"SQLite format 3\0" + bytes(80))):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    os.mkdir(os.path.join(folder, "below"))
    result = t.report("--json", folder)
    t.equal(result.status, 0)
    skipped = sorted(line.split("'")[1].rsplit("/", 1)[1] for line in result.err.splitlines())
    t.equal(skipped, ["cut.db", "empty.db", "notes.txt", "r1.db"], result.err)
    t.check("there is a later run of rank 1" in result.err, result.err)
    found = json.loads(result.out)
    t.equal([os.path.basename(row["path"]) for row in found["ranks"]], ["r0.db", "again.db"])
    t.equal(t.report("-q", folder).err, "")
    for name in ("r0.db", "r1.db"):
        os.unlink(os.path.join(folder, name))
    t.equal(len(json.loads(t.report("-q", "--json", folder).out)["loaders"]), 1, "one: its report")


def check_lacking():
    """Ranks whose last records cannot be stored are named, five of them one by one."""
    folder = job([1, 90, 1, 1, 1, 1, 1])
    for rank in range(7):
        os.symlink("/nonexistent", os.path.join(folder, "r{}.db-segments".format(rank)))
    result = t.report("--json", folder)
    said = result.err.splitlines()
    t.equal((result.status, len(json.loads(result.out)["ranks"]), len(said)), (0, 7, 6), result.err)
    t.check(all("may lack its last records: '" in line for line in said[:5]), result.err)
    t.check(said[5].endswith("and 2 more may lack records"), result.err)
    t.equal(t.report("-q", folder).err, "")


def check_refusals():
    folder = job([1, 90])
    files = [os.path.join(folder, name) for name in ("r0.db", "r1.db")]
    for arguments, words in (
            (["--rank", "7", folder], "no rank 7 is among the 2"),
            (["batches", "--rank", "7", folder], "holds no rank 7, but 0 to 1"),
            (["batches", folder], "holds 2 ranks; --rank N chooses one"),
            (["--what-if", "workers=8", folder], "there are 2 ranks; --rank N chooses one"),
            (["html", "--what-if", "workers=8", folder], "there are 2 ranks; --rank N"),
            (["compare", folder, folder], "holds 2 ranks; --rank N chooses one"),
            ([files[0], "/nonexistent.db"], "cannot open '/nonexistent.db'"),
            ([files[0], __file__], "not a dlprof database"),
            (["-f", "-o", files[1], files[0], files[1]], "will not write over the run itself"),
            (["-f", "-o", files[0], folder], "will not write over the run itself"),
            (["-f", "-o", files[1], folder], "will not write over the run itself"),
            (["compare", "-f", "-o", files[1], "--rank", "1", folder, files[0]],
             "will not write over the run itself"),
            (["compare", "-f", "-o", files[1]] + files, "will not write over the run itself")):
        result = t.report(*arguments)
        t.equal((result.status, result.out, result.err.count("\n")), (2, "", 1), arguments, result.err)
        t.check(words in result.err, words, result.err)
    none = t.scratch()
    for rank in range(2):
        rundb.build(os.path.join(none, "{}.db".format(rank)), [], meta={"rank": str(rank)})
    result = t.report("--json", none)
    t.equal((result.status, json.loads(result.out)["verdict"]), (3, "incomplete"), "no batches")


def check_uneven():
    """One rank does more in its steps, and the others wait for it in their backward pass, or elsewhere."""
    for waits_in, is_said in (("backward_ns", True), ("optimizer_ns", False)):
        folder = job([4, 4, 4])
        for rank in range(3):
            parts = {"before_ns": 20, "backward_ns": 20, "between_ns": 0, "optimizer_ns": 20, "save_ns": 0}
            if rank != 1:
                parts[waits_in] += 38
            with contextlib.closing(sqlite3.connect(os.path.join(folder, "r{}.db".format(rank)))) as database:
                for name, ms in parts.items():
                    database.execute("UPDATE t_batch SET {} = ?".format(name), (ms * rundb.MS,))
                database.commit()
        text, uneven = " ".join(show(folder).out.split()), load(folder)["job"].get("uneven")
        words = "Rank 1 spends 16.0 s, 39 % of its time, after the optimizer, any other rank at most 800 ms: the others wait"
        t.equal(words in text, is_said, waits_in, text)
        t.equal("dlprof-report " + os.path.join(folder, "r1.db") in text, is_said, waits_in, text)
        t.equal(uneven and (uneven["rank"], uneven["part"], uneven["time_s"]),
                (1, "after", 16.0) if is_said else None, waits_in, uneven)
    # The ranks wait in all steps for rank 1, whose optimizer is not observed; or in the first step of an epoch.
    later = "UPDATE t_batch SET {0} = {0} + 16000000000 WHERE epoch = 1 AND "
    slow = [(later + "(batch > 0 OR :rank = 1)").format(name) for name in ("begin_ns", "load_begin_ns")] + [
        (later + "batch = 0 AND :rank != 1").format(name) for name in ("compute_ns", "step_ns", "backward_ns")]
    for words, backward_ms, optimizer_ms, changes in (
            ("after the backward pass", 20, None, []), ("after the optimizer, mostly between epochs", 55, 20, slow)):
        folder = job([4, 4, 4])
        for rank in range(3):
            with contextlib.closing(sqlite3.connect(os.path.join(folder, "r{}.db".format(rank)))) as database:
                database.execute("UPDATE t_batch SET before_ns = :ms * 20, backward_ns = :ms * :backward, save_ns = 0,"
                                 " between_ns = 0 * :optimizer, optimizer_ns = :ms * :optimizer",
                                 {"ms": rundb.MS, "backward": backward_ms if rank == 1 else 55, "optimizer": optimizer_ms})
                for change in changes:
                    database.execute(change, {"rank": rank} if ":rank" in change else {})
                database.commit()
        text = " ".join(show(folder).out.split())
        t.check("of its time, {}, any other".format(words) in text, words, text)


def main():
    check_culprit()
    check_uneven()
    check_shapes()
    check_words()
    check_why()
    check_no_loss()
    check_inner()
    check_groups()
    check_loads()
    check_two()
    check_clocks()
    check_folder()
    check_lacking()
    check_refusals()
    t.finish()


main()
