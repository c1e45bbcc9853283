# SPDX-License-Identifier: Apache-2.0
"""No verb trusts files with SQLite's names beside a database: none deletes, changes or waits for
anything because of them, nor takes a verdict from them. TEST_DOOR=N: number of random mixtures."""
import os
import random
import shutil
import socket
import sqlite3
import stat
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import rundb

ENDS = ("-wal", "-journal", "-shm")
NOBODY = 65534
MIXTURES = int(os.environ.get("TEST_DOOR", 150))
LIMIT_S = 10  # longer counts as a hang; the machine may be busy
GATE = ["gate", "--max-stall-ratio", "0.2"]
MAGIC = bytes.fromhex("d9d505f920a163d7")


def journal(victim):
    """Returns a rollback journal without pages that names the victim as its super-journal."""
    name = victim.encode()
    head = MAGIC + struct.pack(">IIIII", 0, 7, 1, 512, 4096)
    return (head.ljust(512, b"\0") + struct.pack(">I", (0x40000000 // 4096) + 1) + name +
            struct.pack(">II", len(name), sum(name)) + MAGIC)


def log_of(folder, source):
    """Returns a write-ahead log with all pages of another database, and that database."""
    path = os.path.join(folder, "logged.db")
    shutil.copy(source, path)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA wal_autocheckpoint = 0")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("VACUUM")
    with open(path + "-wal", "rb") as file:
        log = file.read()
    with open(path, "rb") as file:
        main = file.read()
    database.close()
    return main, log


def write(path, content, mode=0o600):
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, mode)


def state(folder):
    """Returns the kind and content of every file, without times."""
    found = {}
    for where, names, leaves in os.walk(folder):
        for leaf in names + leaves:
            path = os.path.join(where, leaf)
            status = os.lstat(path)
            content = None
            if stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    content = file.read()
            elif stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            found[path] = status.st_mode, status.st_uid, content
    return found


def ask(*words):
    """Runs a verb, which must end at once and may not crash."""
    begin = time.monotonic()
    done = t.report(*words, timeout=LIMIT_S)
    t.check(done.status in (0, 1, 2, 3), words, done.status, done.err)
    t.check(time.monotonic() - begin < LIMIT_S, "a hang", words)
    return done


def refused(what, *words):
    done = ask(*words)
    t.equal(done.status, 2, words, done.out, done.err)
    t.equal(done.err.count("\n"), 1, "one line", words, done.err)
    t.check(what in done.err, what, "is not in", done.err)


def readers(run, folder):
    """Returns the command lines of all verbs that open a run."""
    out = os.path.join(folder, "out")
    return [[run], ["--json", run], ["batches", run], ["html", "-f", "-o", out + ".html", run],
            ["trace", "-f", "-o", out + ".json", run], GATE + [run], ["compare", run, run],
            ["gate", "--max-stall-ratio", "0.2", "--baseline", run, "--", run],
            ["export", "-f", "-o", out + ".csv", run], ["export", "--into", out + ".db", run],
            ["top", run]]


def plant(kind, name, things):
    """Makes a file of a kind with that name; `things`: files that it leads to."""
    if kind == "pipe":
        os.mkfifo(name)
    elif kind == "folder":
        os.mkdir(name)
    elif kind == "socket":
        own = socket.socket(socket.AF_UNIX)
        own.bind(name)
        own.close()
    elif kind == "device":
        os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    elif kind.startswith("link"):
        os.symlink({"link": things["victim"], "link to nothing": "/proc/none/x",
                    "link to zeros": "/dev/zero"}[kind], name)
    elif kind == "hard link":
        os.link(things["victim"], name)
    else:
        content = {"empty": b"", "text": b"x" * 600, "journal": journal(things["victim"]),
                   "ended journal": bytes(600), "log": things["log"],
                   "index": bytes(32768)}[kind]
        write(name, content)


KINDS = ["pipe", "folder", "socket", "device", "link", "link to nothing", "link to zeros",
         "hard link", "empty", "text", "journal", "ended journal", "log", "index"]
NO_FILES = KINDS[:8]


class Place:
    """A folder with a run that starves, a victim, and files that another user would plant."""

    def __init__(self):
        self.folder = t.scratch()
        os.chmod(self.folder, 0o1777)
        self.run = os.path.join(self.folder, "run.db")
        self.history = os.path.join(self.folder, "all.db")
        self.things = {"victim": os.path.join(self.folder, "victim")}
        write(self.things["victim"], b"all that I have")
        sources = t.scratch()
        rundb.build(os.path.join(sources, "starved.db"),
                    [rundb.loader(rundb.simulate(980, 7, 200, 10), workers=7)])
        rundb.healthy(os.path.join(sources, "fine.db"), meta={"run_id": "another"})
        self.sources = sources
        self.logged, self.things["log"] = log_of(sources, os.path.join(sources, "fine.db"))
        self.renew()

    def renew(self):
        for name in (self.run, self.history):
            for end in ("",) + ENDS:
                remove(name + end)
        shutil.copy(os.path.join(self.sources, "starved.db"), self.run)
        os.chmod(self.run, 0o600)
        t.equal(ask("export", "--into", self.history, self.run).status, 0)


def remove(name):
    if os.path.isdir(name) and not os.path.islink(name):
        shutil.rmtree(name)
    elif os.path.lexists(name):
        os.unlink(name)


def kinds_here(kinds):
    return [kind for kind in kinds if kind != "device" or os.geteuid() == 0]


def check_no_files(place):
    """With a pipe, a folder or the like at one of the names each verb prints one line at once."""
    words = readers(place.run, t.scratch())
    for number, kind in enumerate(kinds_here(NO_FILES)):
        for end in ENDS:
            plant(kind, place.run + end, place.things)
            before = state(place.folder)
            # Tries every verb with a pipe, and one verb with each other kind.
            for line in words if kind == "pipe" else [words[(number + len(end)) % len(words)]]:
                refused(end, *line)
            t.equal(state(place.folder), before, kind, end)
            remove(place.run + end)
            plant(kind, place.history + end, place.things)
            before = state(place.folder)
            refused(end, "export", "--into", place.history, place.run)
            refused(end, "sql", "worst_jobs", place.history)
            t.equal(state(place.folder), before, kind, end)
            remove(place.history + end)
        other = os.path.join(place.folder, "other.db")
        if kind == "hard link":
            continue
        plant(kind, other, place.things)
        before = state(place.folder)
        for line in words if kind == "pipe" else words[:2]:
            ask_other = [other if word == place.run else word for word in line]
            if kind == "folder":  # it is taken for a folder of runs, and has none
                t.check(ask(*ask_other).status in (2, 3), ask_other)
            else:
                refused("", *ask_other)
        refused("", "export", "--into", other, place.run)
        refused("", "sql", "worst_jobs", other)
        t.equal(state(place.folder), before, kind)
        remove(other)
    link = os.path.join(place.folder, "link.db")
    os.symlink(place.run, link)
    refused("name the file that it leads to: " + place.run, link)
    os.unlink(link)


def check_journal(place):
    """A journal beside a run deletes no file, whatever files lie there besides."""
    plant("journal", place.run + "-journal", place.things)
    segments = os.path.join(place.folder, "dlprof-1-1")
    for with_folder in (False, True):
        if with_folder:
            os.mkdir(segments, 0o700)
            os.symlink(segments, place.run + "-segments")
        before = state(place.folder)
        for line in readers(place.run, t.scratch()):
            refused("remove the journal", *line)
        refused("remove the journal", "export", "--into", place.run, place.run)
        after = state(place.folder)
        for path in (place.run + "-segments", segments):
            t.check(before.pop(path, None) or not with_folder, path)
            after.pop(path, None)
        t.equal(after, before, "with a folder of segments:", with_folder)
        remove(place.run + "-segments")
        remove(segments)
    plant("journal", place.history + "-journal", place.things)
    before = state(place.folder)
    refused("remove the journal", "export", "--into", place.history, place.run)
    refused("remove the journal", "sql", "worst_jobs", place.history)
    t.equal(state(place.folder), before)
    # Exports into a database that does not exist, or is empty.
    place.renew()
    for is_there in (False, True):
        os.unlink(place.history)
        if is_there:
            write(place.history, b"")
        plant("journal", place.history + "-journal", place.things)
        before = state(place.folder)
        refused("there is nothing to undo", "export", "--into", place.history, place.run)
        t.equal(state(place.folder), before)
        place.renew()
    # An ended journal, as other programs leave it, has no effect.
    plant("ended journal", place.run + "-journal", place.things)
    t.equal(ask(*GATE, place.run).status, 1, "an ended journal")
    place.renew()


def check_log(place):
    """A planted log replaces nothing in a finished run, nor in a history."""
    plant("log", place.run + "-wal", place.things)
    before = state(place.folder)
    for line in readers(place.run, t.scratch()):
        refused("is not of this database", *line)
    plant("log", place.history + "-wal", place.things)
    refused("is not of this database", "sql", "worst_jobs", place.history)
    os.unlink(place.run + "-wal")
    refused("is not of this database", "export", "--into", place.history, place.run)
    plant("log", place.run + "-wal", place.things)
    os.unlink(place.history + "-wal")
    t.equal(state(place.folder), before)
    # A run's own log counts, as where its drain was killed.
    place.renew()
    write(place.run, place.logged)
    plant("log", place.run + "-wal", place.things)
    t.equal(ask(*GATE, place.run).status, 0, "with its own log")
    os.chmod(place.run + "-wal", 0o666)
    refused("anybody may write its -wal", *GATE, place.run)
    place.renew()
    os.chmod(place.run, 0o666)
    refused("anybody may write it", *GATE, place.run)
    place.renew()


def check_owners(place):
    """Another user's files beside a run count nowhere; another user's run can be read."""
    if os.geteuid() != 0:
        t.say("only root can give files away: not tried")
        return
    for name in (place.run, place.history):
        for end, kind in (("-wal", "log"), ("-journal", "journal"), ("-shm", "index"),
                          ("-journal", "ended journal"), ("-wal", "empty")):
            if kind == "log" or kind == "empty":
                write(place.run, place.logged)
            plant(kind, name + end, place.things)
            os.chown(name + end, NOBODY, NOBODY)
            before = state(place.folder)
            words = GATE + [name] if name == place.run else ["sql", "worst_jobs", name]
            refused("belongs to another user", *words)
            if name == place.history:
                refused("belongs to another user", "export", "--into", name, place.run)
            t.equal(state(place.folder), before, name, end, kind)
            place.renew()
    # A colleague's run: at rest, with a log, and with an index that its owner could cut short.
    os.chown(place.run, NOBODY, NOBODY)
    t.equal(ask(*GATE, place.run).status, 1, "another user's run")
    for kind, said in (("journal", 2), ("ended journal", 1)):
        plant(kind, place.run + "-journal", place.things)
        os.chown(place.run + "-journal", NOBODY, NOBODY)
        before = state(place.folder)
        t.equal(ask(*GATE, place.run).status, said, "another user's run with its", kind)
        t.equal(state(place.folder), before, "it is left as it was")
        remove(place.run + "-journal")
    for end, kind in (("", None), ("-wal", "log"), ("-shm", "index")):
        write(place.run, place.logged)
        if kind:
            plant(kind, place.run + end, place.things)
            os.chown(place.run + end, NOBODY, NOBODY)
        before = state(place.folder)
        t.equal(ask(*GATE, place.run).status, 0, "another user's run with", end)
        t.equal(state(place.folder), before, "it is left as it was")
    place.renew()
    os.chown(place.history, NOBODY, NOBODY)
    t.equal(ask("export", "--into", place.history, place.run).status, 0, "another user's history")
    place.renew()


def check_mixtures(place):
    """Random files under these names, several at once."""
    chance = random.Random(4)
    kinds = kinds_here(KINDS)
    counts = {0: 0, 1: 0, 2: 0, 3: 0}
    for _ in range(MIXTURES):
        logged = chance.random() < 0.3
        name = chance.choice((place.run, place.history))
        if logged and name == place.run:
            write(name, place.logged)
        planted = []
        for end in ENDS:
            if chance.random() < 0.5:
                continue
            kind = chance.choice(kinds)
            plant(kind, name + end, place.things)
            if os.geteuid() == 0 and chance.random() < 0.3 and kind != "hard link":
                os.chown(name + end, NOBODY, NOBODY, follow_symlinks=False)
            if chance.random() < 0.2 and not kind.endswith("link") and "link " not in kind:
                os.chmod(name + end, 0o666)
            planted.append((end, kind))
        if chance.random() < 0.2:
            os.chown(name, NOBODY if os.geteuid() == 0 else -1, -1)
        folder = t.scratch()
        words = chance.choice(readers(name, folder) if name == place.run else
                              [["sql", "worst_jobs", name],
                               ["export", "--into", name, place.run]])
        before = state(place.folder)
        done = ask(*words)
        counts[done.status] = counts.get(done.status, 0) + 1
        after = state(place.folder)
        for path in before:
            # SQLite makes log and index anew when it reads a run with a log, and the history may grow.
            if path.endswith("-shm") and before[path][0] == after.get(path, (0,))[0]:
                continue
            # SQLite may use an ended journal again.
            if done.status == 0 and words[:2] == ["export", "--into"] and \
                    path in (place.history, place.history + "-journal"):
                continue
            t.equal(after.get(path), before[path], path, planted, words)
        for path in set(after) - set(before):
            t.check(logged and path in (place.run + "-shm", place.run + "-wal"), "made", path,
                    planted, words)
        if words[0] == "gate" and done.status < 2:
            t.equal(done.status, 0 if logged else 1, "the verdict", planted, words)
        place.renew()
        shutil.rmtree(folder, ignore_errors=True)
    t.say("{} mixtures, by exit status: {}".format(MIXTURES, counts))
    t.check(counts[2] and counts[0], "some are refused and some are read", counts)


def main():
    place = Place()
    check_no_files(place)
    check_journal(place)
    check_log(place)
    check_owners(place)
    check_mixtures(place)
    t.finish()


main()
