# SPDX-License-Identifier: Apache-2.0
"""Databases that were made to do harm: each function writes one at `path`."""
import os
import sqlite3
import struct

import rundb

ENDLESS = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n")
MOST_BYTES = 96 << 20  # below the 100 MB for which time and memory are promised
LATE = 2 ** 63 - 1
# Divides the sizes that fit MOST_BYTES, so that the test ends soon.
PART = 1 if os.environ.get("TEST_HOSTILE") == "full" else 10


def change(path, *statements, base=rundb.lockstep):
    base(path, version=5)
    database = sqlite3.connect(path)
    for statement in statements:
        database.executescript(statement)
    database.commit()
    database.close()


FAST = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"


def rows(table, columns, count):
    """Returns a statement that makes `count` rows; columns: expressions of i, which counts from 0."""
    names, values = zip(*columns.items())
    return ("INSERT OR IGNORE INTO {} ({}) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 "
            "FROM n WHERE i < {}) SELECT {} FROM n;".format(table, ", ".join(names), count // PART - 1,
                                                            ", ".join(values)))


def fill(path, table, columns, count, base=rundb.lockstep):
    change(path, FAST, rows(table, columns, count), base=base)


def recursive_views(path):
    """Replaces each view by one whose rows do not end."""
    rundb.lockstep(path, version=5)
    database = sqlite3.connect(path)
    views = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type='view'")]
    for view in views:
        names = [row[1] for row in database.execute("PRAGMA table_info({})".format(view))]
        database.execute("DROP VIEW " + view)
        database.execute("CREATE VIEW {} AS {}".format(
            view, ENDLESS.format(", ".join("i AS " + name for name in names))))
    database.commit()
    database.close()


def views_for_tables(path):
    rundb.lockstep(path, version=5)
    database = sqlite3.connect(path)
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type='table'")]
    for table in tables:
        names = [row[1] for row in database.execute("PRAGMA table_info({})".format(table))]
        database.execute("DROP TABLE " + table)
        database.execute("CREATE VIEW {} AS {}".format(
            table, ENDLESS.format(", ".join("i AS " + name for name in names))))
    database.commit()
    database.close()


def generated_columns(path):
    change(path, "DROP TABLE t_note; CREATE TABLE t_note (level TEXT, i INTEGER);"
           "INSERT INTO t_note VALUES ('warning', 1); PRAGMA writable_schema = ON;"
           "UPDATE sqlite_schema SET sql = 'CREATE TABLE t_note (level TEXT, i INTEGER, text TEXT"
           " AS (instr(hex(zeroblob(4000000)), hex(zeroblob(1900000)) || 1)))'"
           " WHERE name = 't_note'")


def virtual_table(path):
    change(path, "DROP TABLE t_note; CREATE VIRTUAL TABLE t_note USING rtree(level, text, b)")


def trigger(path):
    """A database of an old version: a verb that writes into it changes its tables first."""
    change(path, "CREATE TRIGGER t AFTER INSERT ON t_meta BEGIN DELETE FROM t_batch; END;"
           "CREATE TRIGGER u AFTER UPDATE ON t_meta BEGIN DELETE FROM t_batch; END;"
           "PRAGMA user_version = 4")


def endless_tree(path):
    """A small file whose pages of t_note lead to each other again and again: endlessly many rows."""
    fill(path, "t_note", {"level": "'warning'", "text": "printf('%0500d', i)"}, 600000)
    database = sqlite3.connect(path)
    root, = database.execute("SELECT rootpage FROM sqlite_schema WHERE name='t_note'").fetchone()
    size, = database.execute("PRAGMA page_size").fetchone()
    database.close()
    with open(path, "r+b") as file:
        data = bytearray(file.read())

        def children(page):
            at = (page - 1) * size
            if data[at] != 5:
                return []
            count, = struct.unpack_from(">H", data, at + 3)
            cells = [at + struct.unpack_from(">H", data, at + 12 + 2 * i)[0] for i in range(count)]
            return cells + [at + 8]

        def page_of(place):
            return struct.unpack_from(">I", data, place)[0]

        # All entries of each inner page lead to the next inner page.
        inner = [page for page in map(page_of, children(root)) if children(page)]
        leaf = page_of(children(inner[0])[0])
        chain = [root] + inner[:10] + [leaf]
        assert len(chain) > 6, "the tree is too flat"
        for page, following in zip(chain, chain[1:]):
            for place in children(page):
                struct.pack_into(">I", data, place, following)
        file.seek(0)
        file.write(data)


def many_loaders(path):
    fill(path, "t_loader", {"pid": "i", "number": "i", "workers": "2"}, 2000000)


def many_loaders_with_batches(path):
    fill(path, "t_batch", {"loader_id": "i", "epoch": "0", "task": "0", "batch": "0",
                           "wait_ns": "5", "compute_ns": "9", "step_ns": "14"}, 1500000)


def many_notes(path):
    fill(path, "t_note", {"level": "'warning'", "text": "i"}, 2500000)


def many_marks(path):
    fill(path, "t_mark", {"ts_ns": "i", "tid": "1", "text": "'m'", "ns": "3"}, 4000000)


def many_epochs(path):
    fill(path, "t_epoch", {"loader_id": "1", "epoch": "i", "begin_ns": "i", "setup_ns": "1"},
         3000000)


def epochs_of_one_batch(path):
    change(path, "INSERT OR IGNORE INTO t_epoch (loader_id, epoch, begin_ns) WITH RECURSIVE n(i) AS"
           " (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT 1, i, i * 9000000 + 1 FROM n;"
           "INSERT OR IGNORE INTO t_batch (loader_id, epoch, task, batch, begin_ns, wait_ns,"
           " compute_ns, step_ns) SELECT 1, epoch, 0, 0, begin_ns, 1000000, 1000000, 2000000"
           " FROM t_epoch".format(1100000 // (1 if PART == 1 else 7)))


def many_tallies(path):
    fill(path, "t_total", {"kind": "'file'", "name": "i", "detail": "i % 100", "class": "i",
                           "count": "i", "ns": "i", "bytes": "1", "pixels": "1",
                           "slowest_ns": "1", "error_ns": "1"}, 1200000)


def many_batches(path):
    """Batches in no order, in rows as small as possible."""
    change(path, "DROP TABLE t_batch; CREATE TABLE t_batch (loader_id, epoch, task, batch, wait_ns,"
           " compute_ns, step_ns, worker_id, begin_ns, receive_ns, ready_ns, head_ready, qdepth,"
           " hol_ns, h2d_ns, h2d_bytes, gpu_busy_ns, gpu_idle_wait_ns, pid, load_begin_ns, load_ns,"
           " collate_ns, transfer_ns, blocked_ns, cpu_ns, samples, open_count, open_ns, read_count,"
           " read_bytes, read_ns, storage_bytes, decode_count, decode_ns, decode_bytes);"
           "PRAGMA writable_schema = ON; UPDATE t_loader SET in_order = 0")
    database = sqlite3.connect(path)
    database.execute("INSERT INTO t_batch (loader_id, epoch, task, batch, wait_ns, compute_ns)"
                     " WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE"
                     " i < {}) SELECT 1, (i * 7919) % 100, (i * 7907) % 5000011,"
                     " (i * 7901) % 5000003, i % 100, i % 60 FROM n".format(5000000 // PART))
    database.commit()
    database.close()


def huge_texts(path):
    change(path)
    database = sqlite3.connect(path)
    for key in ("command", "host", "gpu", "frameworks", "patch_missing", "decoders_hidden",
                "decoders_patched", "overhead", "kernel", "gpu.0", "cuda_reason"):
        database.execute("INSERT OR REPLACE INTO t_meta VALUES (?, ?)",
                         (key, ("a,b in c,\x1b&<" * 700000)[:(8 << 20) // (1 if PART == 1 else 4)]))
    database.commit()
    database.close()


def huge_value(path):
    change(path, "INSERT INTO t_meta VALUES ('nvtx', CAST(zeroblob({}) AS TEXT))".format(
        MOST_BYTES - (4 << 20)))


def wide_table(path):
    change(path, "ALTER TABLE t_meta RENAME TO old;"
           "CREATE TABLE t_meta ({});".format(", ".join("c{}".format(i) for i in range(1900))) +
           "INSERT INTO t_meta (c0) VALUES (1)")


def many_tables(path):
    change(path, "BEGIN;" + "".join("CREATE TABLE x{0} (a, b, c);".format(i)
                                    for i in range(20000 // PART)) + "COMMIT")


def late_times(path):
    """Times near the greatest integer, far longer than any run."""
    def base(path, **keywords):
        rows = rundb.simulate(300, 4, 20, 10)
        for i, row in enumerate(rows):
            if i % 3 == 0:
                row.update(begin_ns=LATE - i, load_begin_ns=LATE - i, load_ns=LATE, ready_ns=LATE)
            if i % 5 == 0:
                row.update(wait_ns=10 ** 18, compute_ns=10 ** 18, step_ns=2 * 10 ** 18)
            if i % 7 == 0:
                row.update(begin_ns=-LATE - 1, load_begin_ns=-LATE, step_ns=-LATE)
        return rundb.build(path, [rundb.loader(rows, workers=4)], **keywords)
    change(path, "INSERT INTO t_mark VALUES ({0}, 42, 42, 'x', {0}), (-{0}, 42, 43, 'y', {0});"
           "INSERT INTO t_slow VALUES ({0}, 42, 42, 'read', 'read x', {0}, 'a'),"
           " (-{0} - 1, 42, 42, 'open', 'open x', {0}, 'a');"
           "INSERT INTO t_gap VALUES ({0}, -{0}, 'why', 42), (-{0}, {0}, 'why', 43);"
           "UPDATE t_epoch SET begin_ns = {0}, setup_ns = {0};".format(LATE), base=base)


def large_numbers(path):
    """Counts so large that no verb may use them as the size of anything."""
    def base(path, **keywords):
        rows = rundb.simulate(300, 4, 20, 10)
        for i, row in enumerate(rows):
            row.update(worker_id=(i * 7919) % (2 ** 31 - 1), qdepth=2 ** 31 - 1 - i, samples=LATE,
                       batch=row["batch"] * 7000000, epoch=(i // 30) * 200000000)
        return rundb.build(path, [rundb.loader(rows, workers=2 ** 31 - 1, in_order=1,
                                               prefetch_factor=2 ** 31 - 1, batch_size=LATE)],
                           **keywords)
    change(path, "UPDATE t_meta SET value = '{0}' WHERE key IN ('cpus', 'rank', 'end_ns');"
           "INSERT INTO t_meta VALUES ('epochs', '{0}'), ('cpu_limit_milli', '{0}'),"
           " ('gpu.99999999', 'x'), ('world_size', '{0}')".format(LATE), base=base)


def many_devices(path):
    fill(path, "t_gpu_device", {"loader_id": "1", "epoch": "0", "task": "i % 98", "device": "i",
                                "fed": "1", "busy_ns": "5", "idle_wait_ns": "1"}, 1500000)


def many_lines(path):
    """Many frames, each in a file of its own, whose paths end alike; and stacks of them."""
    change(path, FAST,
           rows("t_frame", {"file": "printf('/%d/a/train.py', i)", "function": "'f'", "line": "i"},
                700000),
           rows("t_stack", {"role": "'worker'", "loader_id": "1", "phase": "'load'",
                            "frames": "(i + 1) || ' ' || ((i + 1) * 7919 % 50000)", "count": "1",
                            "ns": "(i + 1) * 1000"}, 700000))


def deep_stacks(path):
    """Stacks of thousands of frames each."""
    change(path, "INSERT INTO t_frame VALUES (1, '/x/train.py', 'f', 1)",
           rows("t_stack", {"role": "'main'", "loader_id": "1", "phase": "'step'",
                            "frames": "replace(hex(zeroblob(500)), '0', '1 ') || (i + 1)",
                            "count": "1", "ns": "60000000"}, 20000))


def long_names_of_lines(path):
    fill(path, "t_frame", {"file": "replace(hex(zeroblob(2000)), '0', '/x') || i || '.py'",
                           "function": "replace(hex(zeroblob(2000)), '0', '<locals>.')", "line": "i"},
         1000)
    database = sqlite3.connect(path)
    database.execute("INSERT INTO t_stack SELECT 'worker', 1, 'load', id || ' 1', 30, 3000000000"
                     " FROM t_frame")
    database.commit()
    database.close()


def many_doing(path):
    fill(path, "t_doing", {"pid": "i", "role": "'worker'", "worker_id": "i", "since_ns": "1",
                           "seen_ns": "99999999999", "frames": "'1 2'"}, 2000000)


ALL = [value for name, value in sorted(globals().items())
       if callable(value) and name not in ("change", "fill", "rows") and value.__module__ == __name__]
# A database of {maker: its size divided by this} costs each verb a second at most.
LESS = {many_loaders: 1000, many_loaders_with_batches: 1000, many_batches: 200}


def build(folder, maker, part=PART):
    global PART
    whole, PART = PART, part
    path = os.path.join(folder, maker.__name__ + ".db")
    maker(path)
    PART = whole
    return path
