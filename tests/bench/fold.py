# SPDX-License-Identifier: Apache-2.0
"""`fold` of a large job: what one machine's 8 ranks take, what 1,250 machines' partials take.

10,000 batches a rank (TEST_MACHINES=100 for fewer machines). The partials differ in their ranks
alone, and lie in the page cache as far as they fit. CPU seconds, as others may have the cores.
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import dlprof_test as t
import ranks

RANKS = 8


def measure(*arguments):
    begin = time.monotonic()
    process = subprocess.Popen([t.REPORT, "fold"] + list(arguments), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    t.equal(status, 0)
    return (time.monotonic() - begin, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024 / 1e6)


def say(what, figures):
    t.say("{:28} {:6.2f} s, {:6.2f} s of CPU, {:4.0f} MB".format(what, *figures))


def main():
    folder, parts = t.scratch(), t.scratch()
    count = int(os.environ.get("TEST_MACHINES", "1250"))
    ranks.make(folder, RANKS)
    out = os.path.join(parts, "{:05}.part")
    for machine in range(count):
        for name in os.listdir(folder):
            database = sqlite3.connect(os.path.join(folder, name))
            database.execute("PRAGMA synchronous = OFF")
            database.execute("UPDATE t_meta SET value = ? WHERE key = 'rank'",
                             (machine * RANKS + int(name[5:-3]),))
            database.commit()
            database.close()
        figures = measure(folder, "-o", out.format(machine))
        if machine == 0:
            say("a machine: {} ranks".format(RANKS), figures)
            t.say("its partial: {} KB".format(os.path.getsize(out.format(0)) // 1000))
    say("the last machine", figures)
    for _ in range(3):
        say("{} partials".format(count), measure(parts))
    shutil.rmtree(parts)
    t.finish()


if __name__ == "__main__":
    main()
