# SPDX-License-Identifier: Apache-2.0
"""What a run's link leads to is read, renamed and removed only if it is dlprof's, and the caller's.

Whoever may write beside a database may put "RUN.db-segments" there, and lead whoever reports on it
into a folder of theirs. Needs root, to be two users.
"""
import os
import shutil
import socket
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (REPORT, SHIM, DRAIN, check, environment, equal, finish, need_shim,  # noqa
                         report, rows, run, say, scratch, wait_for_drain)

NOBODY = 65534
HOST = ["/bin/true"]


def record(folder, **changes):
    """A run whose drain never came: link, folder and one segment."""
    library = os.path.join(folder, os.path.basename(SHIM))
    shutil.copy(SHIM, library)
    database = os.path.join(folder, "run.db")
    done = run(HOST, env=environment(DLPROF_ACTIVATE="always", DLPROF_OUT=database, TMPDIR=folder,
                                     LD_PRELOAD=library, **changes))
    equal(done.status, 0, "host", done.err)
    wait_for_drain(database)
    os.unlink(library)
    return database, os.readlink(database + "-segments")


def tree(folder):
    """Each path below, with its inode and kind."""
    return sorted((os.path.join(where, name),) + tuple(os.lstat(os.path.join(where, name)))[:2]
                  for where, folders, files in os.walk(folder) for name in folders + files)


def as_nobody(argv, **keywords):
    return run(["setpriv", "--reuid={}".format(NOBODY), "--regid={}".format(NOBODY),
                "--clear-groups"] + argv, env=environment(preload=False), **keywords)


def check_link_of_another_user():
    """A sticky folder for all, as /tmp is: a stranger's link to what is private to the caller."""
    folder = scratch()
    os.chmod(folder, 0o1777)
    private = os.path.join(folder, "mine")
    os.mkdir(private, 0o700)
    for name in ("model.new", "a.seg", "1-1-0.seg", "1-1-0.new"):
        with open(os.path.join(private, name), "wb") as file:
            file.write(bytes(100))
        os.chmod(os.path.join(private, name), 0o600)
    database = os.path.join(folder, "run.db")
    for target in (private, os.path.join(private, "dlprof-1-1")):
        if not os.path.exists(target):
            os.mkdir(target, 0o700)
            shutil.copy(os.path.join(private, "1-1-0.new"), os.path.join(target, "1-1-0.new"))
        os.symlink(target, database + "-segments")
        os.lchown(database + "-segments", NOBODY, NOBODY)
        open(database, "w").close()
        before = tree(private)
        answer = report(database)
        equal(tree(private), before, "a stranger's link to", target)
        equal(answer.status, 2, answer.err)
        os.unlink(database)
        done = run(HOST, env=environment(DLPROF_ACTIVATE="always", DLPROF_OUT=database,
                                         TMPDIR=scratch()))
        wait_for_drain(folder)
        check("run-2.db" in done.err, "recorded beside a stranger's link:", done.err)
        equal(report(os.path.join(folder, "run-2.db")).status, 3, "recorded beside that")
        equal(tree(private), before, "recorded beside a stranger's link to", target)
        os.unlink(os.path.join(folder, "run-2.db"))
        os.unlink(database + "-segments")


def check_run_of_another_user():
    """Root leaves an unfinished run of a user to that user, says so, and the user can finish it."""
    folder = scratch()
    database, segments = record(folder)
    with open(database, "w"):
        pass
    for path in (folder, database, database + "-segments", segments):
        os.lchown(path, NOBODY, NOBODY)
    for name in os.listdir(segments):
        os.chown(os.path.join(segments, name), NOBODY, NOBODY)
    before = tree(folder)
    answer = report(database)
    equal(tree(folder), before, "root, and a user's run")
    check("another user" in answer.err, "root is told whose the run is:", answer.err)
    os.chmod(folder, 0o755)
    tool = os.path.join(scratch(), "dlprof-report")
    shutil.copy(REPORT, tool)
    os.chmod(os.path.dirname(tool), 0o755)
    answer = as_nobody([tool, database])
    equal(answer.status, 3, "the run's owner", answer.err)
    equal(os.listdir(folder), ["run.db"], "the run's owner: left behind")
    answer = report(database)
    equal(answer.status, 3, "root, after that", answer.err)


def put_strange_files(segments, own):
    """Names that segments have, of all that is no segment of this user's."""
    def path(name):
        return os.path.join(segments, name)

    os.mkfifo(path("1-1-0.seg"), 0o600)
    os.symlink("/etc/passwd", path("1-2-0.seg"))
    os.symlink(own, path("1-3-0.seg"))
    os.link(os.path.join(os.path.dirname(segments), "precious"), path("1-4-0.seg"))
    os.mkdir(path("1-5-0.seg"), 0o700)
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(path("1-6-0.seg"))
    bound.close()
    shutil.copy(own, path("1-7-0.seg"))
    os.chmod(path("1-7-0.seg"), 0o644)
    shutil.copy(own, path("1-8-0.seg"))
    os.chown(path("1-8-0.seg"), NOBODY, NOBODY)
    os.mkfifo(path("1-9-0.new"), 0o600)
    shutil.copy("/etc/passwd", path("1-10-0.new"))
    os.chmod(path("1-10-0.new"), 0o600)
    with open(path("1-11-0.seg"), "wb") as file:
        file.write(b"a segment cut short")
    os.chmod(path("1-11-0.seg"), 0o600)
    os.mknod(path("1-12-0.seg"), stat.S_IFCHR | 0o600, os.makedev(1, 5))
    shutil.copy(own, path("model.seg"))
    with open(path("model.new"), "w"):
        pass


def check_strange_files():
    """Beside a segment of ours: that one is read and removed, all others stay, and nothing hangs."""
    folder = scratch()
    database, segments = record(folder)
    own = os.path.join(segments, os.listdir(segments)[0])
    with open(os.path.join(folder, "precious"), "w") as file:
        file.write("precious")
    os.chmod(os.path.join(folder, "precious"), 0o600)
    put_strange_files(segments, own)
    before = [entry for entry in tree(folder) if entry[0] not in (own, database)]
    for again in range(2):
        answer = report(database, timeout=20)
        equal(answer.status, 3, "strange files", answer.err)
        equal([entry for entry in tree(folder) if entry[0] != database], before,
              "strange files")
    notes = [row["text"] for row in rows(database, "SELECT text FROM note")]
    for number in (1, 2, 3, 4, 5, 6, 7, 8, 11, 12):
        name = "/1-{}-0.seg ".format(number)
        equal(sum(name in note for note in notes), 1, "notes of", name, notes)
    check(not any("model" in note for note in notes), "notes of what is not named so", notes)
    return folder, segments, own


def check_drain_and_strange_files():
    """The drain ends, too."""
    folder, segments, _ = check_strange_files()
    database = os.path.join(folder, "run.db")
    before = tree(segments)
    drain = subprocess.Popen([DRAIN, segments, database])
    try:
        equal(drain.wait(20), 0, "the drain's exit status")
    except subprocess.TimeoutExpired:
        check(False, "the drain hangs")
        drain.kill()
    equal(tree(segments), before, "strange files, the drain")


def check_folder(what, change):
    """A link of the caller's to a folder that dlprof did not make so."""
    folder = scratch()
    database, segments = record(folder)
    target = change(segments) or segments
    if target != segments:
        os.unlink(database + "-segments")
        os.symlink(target, database + "-segments")
    before = tree(folder)
    answer = report(database)
    equal(tree(folder), before, what)
    equal(answer.status, 2, what, answer.err)


def renamed(segments):
    target = os.path.join(os.path.dirname(segments), "segments")
    os.rename(segments, target)
    return target


def linked(segments):
    target = os.path.join(os.path.dirname(segments), "dlprof-1-2")
    os.symlink(segments, target)
    return target


def put_database(segments):
    """In place of the one that a drain keeps there while it cannot write to its own."""
    database, _ = record(scratch())
    report(database)
    shutil.copy(database, os.path.join(segments, "run.db"))
    os.chown(segments, NOBODY, NOBODY)


def main():
    need_shim()
    for what, change in (("by another name", renamed), ("by a second link", linked),
                         ("open to a group", lambda path: os.chmod(path, 0o750))):
        check_folder(what, change)
    if os.getuid() or not shutil.which("setpriv"):
        say("not root, or no setpriv: other users are not tried")
        finish()
    check_folder("of another user", lambda path: os.chown(path, NOBODY, NOBODY))
    check_folder("of another user, with a database", put_database)
    check_link_of_another_user()
    check_run_of_another_user()
    check_drain_and_strange_files()
    finish()


main()
