# SPDX-License-Identifier: Apache-2.0
"""`dlprof-report import` takes any table of batches, or says in one line where the table is wrong."""
import json
import os
import random
import resource
import sqlite3
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

LOG = [1040, 43, 89, 29, 1025, 37, 23, 90, 1053, 31, 21]
HEAD = "batch,wait_ms,compute_ms\n"


class Table:
    """A table in its own folder, in which the test sees what import leaves."""

    def __init__(self, content):
        self.folder = t.scratch()
        self.path = os.path.join(self.folder, "table.csv")
        self.run = os.path.join(self.folder, "run.db")
        with open(self.path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def convert(self, *arguments, **keywords):
        return t.report("import", self.path, "-o", self.run, *arguments, **keywords)

    def report(self, *arguments):
        result = self.convert(*arguments)
        t.equal((result.status, result.out), (0, ""), result.err)
        return json.loads(t.report("--json", self.run).out)

    def left(self):
        return sorted(os.listdir(self.folder))


def refused(content, words, *arguments):
    table = Table(content)
    result = table.convert(*arguments)
    t.equal((result.status, result.out), (2, ""), words, result.err)
    t.check(result.err.count("\n") == 1 and words in result.err, "says", words, result.err)
    t.equal(table.left(), ["table.csv"], "nothing is left behind", words)


def lines(count, text="{},1,100"):
    return HEAD + "".join(text.format(i) + "\n" for i in range(count))


def check_meta():
    """All that an imported run has in its table of facts. Its time is that of its batches, 2 x 515 ms."""
    table = Table("rank,epoch,batch,wait_ms,compute_ms\n" +
                  "".join("3,{},{},{},100\n".format(i // 5, i % 5, i % 5 + 1) for i in range(10)))
    done = table.convert("--meta", "workers=4", "--meta", "cores=6", "--meta", "epochs=2", "--meta", "sync=true")
    t.equal((done.status, done.out), (0, ""), done.err)
    found = {row["key"]: row["value"] for row in t.rows(table.run, "SELECT * FROM t_meta")}
    version = t.report("--version").out.split()[1]
    schema = str(t.rows(table.run, "PRAGMA user_version")[0]["user_version"])
    t.equal(found, {"dlprof_version": version, "schema": schema, "clock": "host", "frameworks": "imported", "rank": "3",
                    "start_ns": "0", "end_ns": "1030000000", "cpus": "6", "epochs": "2", "sync": "1"}, "facts")


def check_refusals():
    refused("", "line 0, column 1: the file is empty")
    refused("1,2\n3,4\n", "line 1, column 1: the first line must name the columns")
    refused("batch,loss\n1,2\n", "the first line must name the columns")
    refused("batch,wait\n0,1\n", "line 1, column 7: 'wait' needs a unit: wait_s")
    refused("wait_ms,wait_s\n", "line 1, column 9: 'wait_s' appears twice")
    refused(HEAD, "holds no batch")
    refused(lines(3) + "3,x,100\n", "line 5, column 3: 'x' is not a number")
    refused(lines(3) + "3,nan,100\n", "'nan' is not a number")
    refused(lines(3) + "3,inf,100\n", "'inf' is not a number")
    refused(lines(3) + "3,0x10,100\n", "'0x10' is not a number")
    refused(lines(3) + "3,1.2.3,100\n", "is not a number")
    refused(lines(3) + "3,-1,100\n", "line 5, column 3: '-1' is below 0")
    refused(lines(3) + "3,-0.5,100\n", "is below 0")
    refused(lines(3) + "3,1,9223372036854775807\n", "column 5: '9223372036854775807' is too large")
    refused(lines(3) + "3,1,1e300\n", "is too large")
    refused(lines(3) + "99999999999,1,1\n", "column 1: '99999999999' is too large")
    refused(lines(3) + "3.5,1,1\n", "is not a whole number")
    refused(lines(3) + "3,1\n", "line 5, column 4: 2 cells, but 3 columns")
    refused(lines(3) + "3,1,1,1\n", "line 5, column 7: more cells than columns (3)")
    refused(lines(3) + "2,1,1\n", "line 5, column 1: batch 2 appears twice")
    refused(lines(3) + "1,1,1\n", "batch 1 stands after a later one")
    refused("epoch,ms\n1,5\n0,5\n", "epoch 0 after epoch 1")
    refused("rank,ms\n1,5\n0,5\n", "rank 0 after rank 1")
    refused("head_ready,ms\n2,5\n", "'2' is neither 0 nor 1")
    refused(HEAD.encode() + b"0,1,\x001\n", "a zero byte")
    refused(HEAD + "0,1," + "1" * 100000 + "\n", "the line is too long")
    refused(",".join("a{}".format(i) for i in range(300)) + "\n", "more than 256 columns")
    refused(lines(9), "'wokers' is none of workers", "--meta", "wokers=3")
    refused(lines(9), "workers is a number or null, not '-3'", "--meta", "workers=-3")
    refused(lines(9), "in_order is true, false or null", "--meta", "in_order=1")
    refused(lines(9), "'workers' is not KEY=VALUE", "--meta", "workers")
    chance = random.Random(7)
    for _ in range(30):
        junk = Table(bytes(chance.randrange(256) for _ in range(chance.randrange(2000))))
        result = junk.convert()
        t.equal((result.status, result.err.count("\n")), (2, 1), "binary junk", result.err)
    t.equal(t.report("import", "/nonexistent.csv", "-o", "/tmp/x.db").status, 2)
    t.equal(t.report("import", "/tmp", "-o", "/tmp/x.db").status, 2)
    table = Table(lines(9))
    t.check("import needs -o" in t.report("import", table.path).err, "-o")
    t.check("over the table" in t.report("import", table.path, "-o", table.path).err, "itself")
    t.equal(table.convert().status, 0)
    t.check("exists; -f replaces it" in table.convert().err, "overwrite")
    t.equal(table.convert("-f").status, 0)
    result = t.report("import", table.path, "-o", os.path.join(table.folder, "no", "run.db"))
    t.check(result.status == 2 and "cannot write" in result.err, result.err)


def check_units_and_columns():
    """A table gives the same run in every unit, with quotes, blanks, CRLF, a comment and an unknown column."""
    expected = None
    for unit, factor in (("s", 1e-3), ("ms", 1), ("us", 1000), ("ns", 1000000)):
        content = "\ufeffbatch, wait_{0} ,\"compute_{0}\",loss\r\n# a comment\r\n\r\n".format(unit)
        for i in range(200):
            wait = 500 if i % 4 == 1 else 1
            content += "{}, {:.6g},\"{:.6g}\",0.1\r\n".format(i, wait * factor, 100 * factor)
        table = Table(content)
        result = table.convert("--meta", "workers=4", "--meta", "in_order=true", "--meta",
                               "cores=null", "--meta", "prefetch_factor=2")
        t.equal((result.status, result.err),
                (0, "dlprof-report: columns that are not known are left out: loss\n"), unit)
        t.equal(table.left(), ["run.db", "table.csv"])
        found = json.loads(t.report("--json", table.run).out)
        found["run"]["path"] = found["ranks"][0]["path"] = ""
        t.equal(expected or found, found, "in", unit)
        expected = found
    t.equal((expected["verdict"], expected["period"]["batches"]), ("highly_input_bound", 4))
    t.equal((expected["workers"]["count"], expected["workers"]["cores"]), (4, None))
    # Two of wait, compute and step are enough to compute the third.
    for head, cells in (("wait_ms,step_ms", "50,150"), ("compute_ms,step_ms", "100,150")):
        found = Table(head + "\n" + (cells + "\n") * 100).report()
        t.check(abs(found["stall"]["ratio"] - 99 / 299) < 1e-6, head, found["stall"])


def check_epochs():
    """Batches may be counted over all epochs or in each; missing records are noticed."""
    for again in (False, True):
        rows = ["{},{},{},100".format(0 if again else epoch * 50 + i, epoch, 1)
                if not again else "{},{},1,100".format(i, epoch)
                for epoch in range(3) for i in range(50) if i != 20]
        found = Table("batch,epoch,wait_ms,compute_ms\n" + "\n".join(rows)).report(
            "--meta", "workers=4", "--meta", "epochs=3")
        t.equal((found["stall"]["batches"], found["stall"]["steady_batches"],
                 found["loss"]["batches"]), (147, 3 * 45, 3), "epochs", again)
    found = Table(HEAD + "0,1,100\n1000000000,1,100\n").report()
    t.equal(found["verdict"], "incomplete", "two of a milliard")


def check_stdin():
    folder = t.scratch()
    run = os.path.join(folder, "run.db")
    result = subprocess.run([t.REPORT, "import", "-", "-o", run], input=lines(50).encode(),
                            env=t.environment(preload=False), capture_output=True)
    t.equal((result.returncode, result.stderr), (0, b""), "standard input")
    t.equal(json.loads(t.report("--json", run).out)["stall"]["batches"], 50)
    starved = t.rows(run, "SELECT COUNT(starved) AS n FROM batch")[0]["n"]
    t.equal(starved, 42, "the views know what starved")


MOST_KB = 64 << 10  # memory that a line without end may take, KiB


def check_endless_lines():
    """A line that is too long is refused without delay and without much memory, and nothing is written."""
    folder = t.scratch()
    sparse, run = os.path.join(folder, "sparse.csv"), os.path.join(folder, "run.db")
    with open(sparse, "wb") as file:
        file.truncate(4 << 30)
    limit = (MOST_KB + (1 << 20)) << 10
    for name, prefix, what in ((sparse, b"", "a file"), ("/dev/zero", b"", "a device"),
                               ("-", b"", "a pipe"), ("-", HEAD.encode() + b"0,", "a pipe's row")):
        writer = subprocess.Popen(["sh", "-c", "printf %s \"$1\"; exec tr '\\0' 1 </dev/zero", "sh",
                                   prefix.decode()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process = subprocess.Popen(
            [t.REPORT, "import", name, "-o", run], stdin=writer.stdout, stderr=subprocess.PIPE,
            env=t.environment(preload=False),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        writer.stdout.close()
        said = process.stderr.read().decode()
        process.stderr.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.WEXITSTATUS(status)
        writer.wait()
        t.equal((status, said.replace(name, "-").replace("standard input", "-")),
                (2 << 8, "dlprof-report: -, line {}, column 65536: the line is too long\n".format(
                    prefix.count(b"\n") + 1)), what)
        t.check(used.ru_maxrss < MOST_KB, what, "takes", used.ru_maxrss, "KB")
        t.equal(os.listdir(folder), ["sparse.csv"], what, "nothing is written")
    # A line of the greatest length that is taken, and one with a byte more.
    cells = "0,1,100"
    for more, status in ((0, 0), (1, 2)):
        table = Table(HEAD + cells + " " * (65536 - len(cells) - 1 + more) + "\n1,1,100")
        t.equal(table.convert().status, status, "of", 65536 + more, "bytes")


def check_plain_log():
    """A table of step times alone gives periods and outliers, but no verdict."""
    chance = random.Random(3)
    for log in (LOG, LOG + [60]):
        steps = [max(1, round(log[i % len(log)] * chance.gauss(1, 0.02))) for i in range(88)]
        table = Table("batch, ms\n" + "".join("{}, {}\n".format(i, step)
                                              for i, step in enumerate(steps)))
        found = table.report()
        t.equal((found["verdict"], found["starved"], found["period"]["batches"]),
                ("incomplete", None, 4), log)
        text = t.report("-v", table.run).out
        for words in ("INCOMPLETE", "long steps every 4 batches",
                      "Whether they waited for data cannot be told"):
            t.check(words in " ".join(text.split()), words, text)


def check_pack():
    """A long run has a pack: without it the report is the same, and no report trusts a pack after a change."""
    count = 110000
    rows = ["{},{},{},{},{},{},{}".format(
        i, i // 30000, 300 + i % 7 if i % 5 == 2 else 1, 100 + i % 3, 600 + i % 11, i % 5,
        int(i % 5 != 2)) for i in range(count) if i % 1000 != 77]
    table = Table("batch,epoch,wait_ms,compute_ms,load_ms,worker_id,head_ready\n" + "\n".join(rows))

    def facts():
        result = t.report("--json", table.run)
        t.equal((result.status, result.err), (0, ""))
        return json.loads(result.out)

    def execute(statement, *values):
        database = sqlite3.connect(table.run)
        database.execute(statement, values)
        database.commit()
        database.close()

    packed = table.report("--meta", "workers=5", "--meta", "in_order=true")
    t.check(t.rows(table.run, "SELECT COUNT(*) AS n FROM t_pack")[0]["n"] > 2, "packed")
    t.equal((packed["stall"]["batches"], packed["cause"], packed["period"]["batches"]),
            (len(rows), "loader_capacity", 5))
    parts = t.rows(table.run, "SELECT rowid, part, data FROM t_pack ORDER BY part")
    first = parts[1]["data"]
    count = struct.unpack_from("=I", first, 4)[0]
    steady_or_starved = 16 | 32
    t.check(count > 0 and not any(state & steady_or_starved for state in first[-count:]),
            "readers work out which batches are steady and starved: a pack does not say")
    execute("ALTER TABLE t_pack RENAME TO t_pack_away")
    t.equal(facts(), packed, "the rows say what the pack said")
    execute("ALTER TABLE t_pack_away RENAME TO t_pack")
    chance = random.Random(2)
    for part in parts[:2]:
        for damage in range(6):
            data = bytearray(part["data"])
            if damage % 3 == 2:
                data = data[:chance.randrange(len(data))]
            else:
                for _ in range(1 + damage):
                    data[chance.randrange(min(len(data), 40))] = chance.randrange(256)
            execute("UPDATE t_pack SET data = ? WHERE rowid = ?", bytes(data), part["rowid"])
            result = t.report("--json", table.run)
            t.check(result.status in (0, 2, 3), "a damaged pack", part["part"], damage,
                    result.status, result.err)
        execute("UPDATE t_pack SET data = ? WHERE rowid = ?", part["data"], part["rowid"])
    t.equal(facts(), packed, "mended")
    execute("DELETE FROM t_pack WHERE part = 2")
    t.equal(facts(), packed, "a part is missing")
    execute("UPDATE t_batch SET wait_ns = 7 WHERE task = 5")
    t.equal(t.rows(table.run, "SELECT COUNT(*) AS n FROM t_pack")[0]["n"], 0, "no longer true")
    small = Table(lines(500))
    small.report()
    t.equal(t.rows(small.run, "SELECT COUNT(*) AS n FROM sqlite_schema WHERE name LIKE 't_pack%'"),
            [{"n": 0}], "a short run is not packed")


def check_unseen_loads():
    """A table of waits does not tell about workers or storage: no cause and no advice speaks of them."""
    waits = "".join("{},{},20\n".format(i, 30 if i * 7919 % 100 < 30 else 1) for i in range(300))
    loads = "".join("{},{},20,{}\n".format(i, 30 if i * 7919 % 100 < 30 else 1, 40)
                    for i in range(300))
    for head, rows, cause in (("batch,wait_ms,compute_ms\n", waits, "unseen_loader"),
                              ("batch,wait_ms,compute_ms,load_ms\n", loads, "loader_capacity")):
        found = Table(head + rows).report("--meta", "workers=" +
                                          ("2" if "load" in head else "null"))
        t.equal(found["cause"], cause, head)
    found = Table("batch,wait_ms,compute_ms\n" + waits).report()
    t.equal([step["id"] for step in found["advice"]], ["mark_loads"], "advice")
    t.check(0.3 < found["advice"][0]["gain"] < 0.6, "its gain is a bound", found["advice"])


def check_explain():
    for name in ("loader_capacity", "use_workers", "eta", "none"):
        result = t.report("--explain", name)
        t.check(result.status == 0 and result.out.startswith(name), name, result.out)
        t.check(max(map(len, result.out.splitlines())) <= 80, name, "width")
    found = Table(HEAD.strip() + ",load_ms,worker_id,head_ready\n" + "".join(
        "{},{},100,600,{},0\n".format(i, 500 if i % 4 == 1 else 1, i % 4)
        for i in range(300))).report("--meta", "workers=4", "--meta", "in_order=true")
    # Each number that is no plain sum or setting has a page, under its own name or that in `names`.
    plain = {"wait_s", "time_s", "batches", "steady_batches", "starved_batches", "count", "cores",
             "main_cores", "other_cores", "prefetch_factor", "in_order", "persistent", "loading"}
    names = {"ratio": "stall_ratio", "needed": "workers_needed", "starved": "starved"}
    keys = (set(found["stall"]) | set(found["workers"]) |
            {"period", "compute_period", "confidence", "starved", "whatif"}) - plain
    keys = {key for key in keys if not key.startswith(("wait_p", "compute_p")) or key == "compute_period"}
    for key in sorted(keys):
        name = names.get(key, key[:-2] if key.endswith("_s") else key)
        t.equal(t.report("--explain", name).status, 0, "a page for", key)
    listed = t.report("--explain", "all").out
    t.check("  head_of_line" in listed and "  smooth_shard_opening" in listed, listed)
    result = t.report("--explain", "nonsense")
    t.check(result.status == 2 and "--explain all" in result.err, result.err)


def main():
    check_meta()
    check_refusals()
    check_units_and_columns()
    check_epochs()
    check_stdin()
    check_endless_lines()
    check_plain_log()
    check_pack()
    check_unseen_loads()
    check_explain()
    t.finish()


main()
