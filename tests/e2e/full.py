# SPDX-License-Identifier: Apache-2.0
"""Where the folder of the database is full, or has no inode left, nothing is lost: the line at exit
says where the run is, the report reads it there, and delivers it once there is room."""
import json
import os
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, check, environment, equal, finish, need_shim, need_torch,  # noqa
                         report, rows, say, scratch, skip, use_stub, wait_for_drain)

SLEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sleeper.py")
BATCHES = 300
PLAN = {"workers": 2, "load_s": 0.01, "step_s": 0.01, "batches": BATCHES}


class Mount:
    """A file system of its own in a folder, until the end."""

    def __init__(self, options):
        self.folder = scratch()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.folder],
                          stderr=subprocess.DEVNULL).returncode:
            skip("nothing can be mounted here")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.folder])

    def fill(self):
        with open(os.path.join(self.folder, "ballast"), "ab", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(4096))
            except OSError:
                pass

    def make_room(self):
        subprocess.run(["mount", "-o", "remount,size=20m,nr_inodes=1000", self.folder], check=True)


def start(database, tmp, logs=None):
    return subprocess.Popen([PYTHON, "-W", "ignore", SLEEPER,
                             os.path.join(logs or tmp, "log.json"),
                             json.dumps(PLAN)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=environment(DLPROF_OUT=database, TMPDIR=tmp))


def end(process, database, name):
    """The line at exit; the program itself noticed nothing."""
    out, err = process.communicate(timeout=120)
    equal((process.returncode, out), (0, b"trained %d\n" % BATCHES), name, "the program", err)
    wait_for_drain(database)
    say(name, err.decode().strip())
    return err.decode()


def judged(database, name):
    done = report("--json", database)
    equal(done.status, 0, name, "status", done.err)
    equal(json.loads(done.out)["stall"]["batches"], BATCHES, name, "batches")
    return done


def check_kept(mount, database, tmp, line, name):
    """Not at its place, read where it is, delivered as soon as there is room."""
    folder = os.path.realpath(database + "-segments")
    for words in ("{} batches".format(BATCHES), "cannot be written (no space left on device)",
                  "kept in " + folder, "dlprof-report {} reads it".format(database)):
        check(words in line, name, "the line at exit does not say", words, line)
    equal(os.path.getsize(database), 0, name, "nobody takes a part of it for the whole")
    remark = "'{}' cannot be written: no space left on device".format(database)
    done = judged(database, name)
    check(remark in done.err, name, done.err)
    equal(report("batches", "--csv", database).out.count("\n"), BATCHES + 1, name, "batches")
    mount.make_room()
    equal(judged(database, name).err, "", name, "after there is room")
    check_home(database, tmp, name)


def check_home(database, tmp, name):
    equal(rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"], BATCHES, name, "delivered")
    equal(sorted(n for n in os.listdir(os.path.dirname(database)) if n != "ballast"), ["run.db"],
          name, "beside it")
    equal(os.stat(database).st_mode & 0o777, 0o600, name, "mode")
    equal([n for n in os.listdir(tmp) if n.startswith("dlprof-")], [], name, "left behind")


def check_small(size, name):
    tmp = scratch()
    with Mount("size=" + size) as mount:
        database = os.path.join(mount.folder, "run.db")
        line = end(start(database, tmp), database, name)
        check_kept(mount, database, tmp, line, name)


def fill_during(process, mount, database):
    """From when some of the run is stored."""
    stop = time.monotonic() + 60
    while time.monotonic() < stop:
        time.sleep(0.1)
        try:
            if rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"] > 20:
                break
        except sqlite3.Error:  # there are no tables yet
            pass
    while process.poll() is None:  # what the run itself gives up, too
        mount.fill()
        time.sleep(0.02)
    mount.fill()


def check_fills():
    tmp = scratch()
    with Mount("size=1m") as mount:
        database = os.path.join(mount.folder, "run.db")
        process = start(database, tmp)
        fill_during(process, mount, database)
        line = end(process, database, "fills:")
        equal(os.path.exists(database + "-wal"), False, "fills: a log is left")
        check_kept(mount, database, tmp, line, "fills:")


def check_nowhere():
    """No room on this machine, either: what is in the rings alone is missing, and the verdict says
    so, until there is room."""
    with Mount("size=20m") as mount:
        tmp = os.path.join(mount.folder, "tmp")
        os.mkdir(tmp)
        database = os.path.join(mount.folder, "run.db")
        process = start(database, tmp, scratch())
        fill_during(process, mount, database)
        line = end(process, database, "nowhere:")
        check("cannot be written (no space left on device): dlprof-report {} adds what is still in "
              "memory".format(database) in line, "nowhere: the line at exit", line)
        done = report(database)
        equal(done.status, 3, "nowhere: status", done.out, done.err)
        check("INCOMPLETE" in done.out, "nowhere: the verdict", done.out)
        check(" records: no space left on device" in done.err, "nowhere: what is missing", done.err)
        equal(report("gate", "--max-stall-ratio", "1", database).status, 3, "nowhere: gate")
        os.unlink(os.path.join(mount.folder, "ballast"))
        # Rings that could not grow on the full disk dropped what they say.
        done = report("--json", database)
        told = json.loads(done.out)
        check(told["stall"]["batches"] >= BATCHES - told["loss"]["events"] > 20,
              "nowhere: after there is room", told["stall"]["batches"], told["loss"])
        equal(sorted(os.listdir(mount.folder)), ["run.db", "tmp"], "nowhere: beside it")
        equal(os.listdir(tmp), [], "nowhere: left behind")


def check_no_inode():
    for count in (3, 4, 5):
        tmp, name = scratch(), "{} inodes:".format(count)
        with Mount("size=10m,nr_inodes={}".format(count)) as mount:
            database = os.path.join(mount.folder, "run.db")
            line = end(start(database, tmp), database, name)
            if "nothing was recorded" in line or not os.path.exists(database):
                continue  # not even for its name
            equal(judged(database, name).err, "", name)
            check_home(database, tmp, name)


def main():
    need_torch()
    need_shim()
    if os.geteuid() != 0:
        skip("only root can mount a small file system")
    check_small("64k", "never any room:")
    use_stub()
    check_fills()
    check_nowhere()
    check_no_inode()
    finish()


main()
