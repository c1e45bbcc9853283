# SPDX-License-Identifier: Apache-2.0
"""How long a job of 1,000 ranks takes to judge, 10,000 batches each (TEST_RANKS=100 for fewer).

A database a rank, in the page cache as far as it fits; best of three.
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import dlprof_test as t
import rundb

BATCHES = 10000


def make(folder, count):
    """As a drain leaves them: packed."""
    table, first = os.path.join(folder, "table.csv"), os.path.join(folder, "rank-0.db")
    with open(table, "w", encoding="ascii") as file:
        file.write("batch,wait_ms,compute_ms,load_ms,worker_id,head_ready\n")
        for i, row in enumerate(rundb.simulate(BATCHES, 4, 300, 100, jitter=0.3)):
            file.write("{},{},{},{},{},{}\n".format(
                i, row["wait_ns"] / 1e6, row["compute_ns"] / 1e6, row["load_ns"] / 1e6,
                row["worker_id"], row["head_ready"]))
    result = t.report("import", table, "-o", first, "--meta", "workers=4", "--meta", "in_order=true")
    t.equal(result.status, 0, result.err)
    os.unlink(table)
    for rank in range(1, count):
        shutil.copyfile(first, os.path.join(folder, "rank-{}.db".format(rank)))
    edit(folder, "UPDATE t_meta SET value = ? WHERE key = 'rank'")


def edit(folder, statement):
    for name in os.listdir(folder):
        database = sqlite3.connect(os.path.join(folder, name))
        database.execute("PRAGMA synchronous = OFF")
        database.execute(statement, (name[5:-3],) if "?" in statement else ())
        database.commit()
        database.close()


def measure(folder):
    begin = time.monotonic()
    process = subprocess.Popen([t.REPORT, "--json", folder], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    t.equal(status, 0)
    return (time.monotonic() - begin, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024 / 1e6)


def main():
    folder = t.scratch()
    count = int(os.environ.get("TEST_RANKS", "1000"))
    make(folder, count)
    for what, limit_s in (("packed", 3), ("row by row", 15)):
        best = min(measure(folder) for _ in range(3))
        t.say("{} ranks of {} batches, {}: {:.2f} s, {:.2f} s of CPU, {:.0f} MB".format(
            count, BATCHES, what, *best))
        t.check(best[1] < limit_s * max(count / 1000, 0.1) and best[2] < 100, "too much", best)
        edit(folder, "DROP TABLE IF EXISTS t_pack")
    t.finish()


if __name__ == "__main__":
    main()
