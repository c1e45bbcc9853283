# SPDX-License-Identifier: Apache-2.0
"""How long a report takes of 10^4 to 10^6 batches, or as many as TEST_BATCHES says (10^7: 1.2 GB).

From a database file that `import` made, in the page cache; CPU seconds, since the machine may be
shared, and the most memory it had.
"""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

ROWS = 20000


def make(folder, count):
    rows = ["{},{},{},{},3,{},40".format(270 + i % 11 if i % 8 == 3 else 0.5, 10 + i % 7 / 10,
                                         100 + i * 37 % 60, i % 8, int(i % 8 != 3))
            for i in range(ROWS)]
    table, run = os.path.join(folder, "table.csv"), os.path.join(folder, "{}.db".format(count))
    with open(table, "w", encoding="ascii") as file:
        file.write("batch,wait_ms,compute_ms,load_ms,worker_id,qdepth,head_ready,load_cpu_ms\n")
        for i in range(count):
            file.write("{},{}\n".format(i, rows[i % ROWS]))
    result = t.run([t.REPORT, "import", table, "-o", run, "--meta", "workers=8", "--meta",
                    "prefetch_factor=2", "--meta", "in_order=true"], timeout=1200,
                   env=t.environment(preload=False))
    t.equal(result.status, 0, result.err)
    os.unlink(table)
    return run


def measure(*arguments, form="--json"):
    begin = time.monotonic()
    process = subprocess.Popen([t.REPORT, form] + list(arguments), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    t.equal(status, 0, arguments)
    return (usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_maxrss * 1024 / 1e6)


def main():
    folder = t.scratch()
    period = os.path.join(t.BUILD, "tests", "bench", "period")
    counts = [int(float(c)) for c in os.environ.get("TEST_BATCHES", "1e4 1e5 1e6").split()]
    t.say("  batches  database  report: CPU s   s   MB  row by row: CPU s   s   MB")
    for count in counts:
        run = make(folder, count)
        size = os.path.getsize(run) / 1e6
        best = min(measure(run) for _ in range(3))
        # What is a part of a run, or still records, is not packed.
        rows = min(measure("--batches", ":{}".format(count), run)
                   for _ in range(3 if count < 10**7 else 1))
        t.say("{:>9} {:>6.0f} MB {:>14.2f} {:.2f} {:>4.0f} {:>18.2f} {:.2f} {:>4.0f}".format(
            count, size, *best, *rows))
        t.check(best[0] < (0.5 if count <= 10**6 else 3) and best[2] < 200, count, "took", best)
        best = min(measure(run, form="html") for _ in range(3))
        t.say("   as HTML: {:.2f} s of CPU, {:.2f} s, {:.0f} MB".format(*best))
        t.check(best[0] < 3 or count > 10**6, count, "as HTML took", best)
        os.unlink(run)
        if os.path.exists(period):
            t.say("  ", t.run([period, "speed", str(count)], env=t.environment(preload=False),
                              timeout=600).out.strip())
    t.finish()


main()
