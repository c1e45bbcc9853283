# SPDX-License-Identifier: Apache-2.0
"""A fleet of jobs that never were: rows for the tables of store/fleet/lake.def, with known faults.

One machine is slow (BAD_NODE: its ranks wait more than the others of their jobs), one file system
(STORAGE[0]), and one program waits more from its revision BAD_REVISION on.
"""
import os
import random
import re
import sqlite3

LAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "analyzer", "store",
                    "fleet", "lake.def")
FLEET_ID, FLEET_VERSION = 0x646C706C, 1
NAMES = ("train.py", "pretrain.py", "finetune.py")
OWNERS = ("ada", "grace", "linus", None)
DATASETS = ("coco", "imagenet", "laion", "été 2026", None)
STORAGE = ("nfs", "lustre", "s3", "local")
CAUSES = ("loader_capacity", "cold_cache", "intermittent_loader")
BAD_NODE, BAD_NAME, BAD_REVISION, REVISIONS = "node0007", "train.py", 2, 4
RANKS_OF_NODE = 8


def tables():
    """{table: (columns with their SQLite type, how many are the key)}, as the programs have it."""
    found, table = {}, None
    with open(LAKE, encoding="utf-8") as file:
        for kind, first, second in re.findall(r"^(LAKE(?:_TABLE)?)\((\w+), (\w+),", file.read(),
                                              re.M):
            if kind == "LAKE_TABLE":
                table = found[first] = ([], int(second))
            else:
                table[0].append((second, first))
    return found


def create(path):
    """A fleet file without a job, as `export --into` makes one."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA application_id = {}".format(FLEET_ID))
    database.execute("PRAGMA user_version = {}".format(FLEET_VERSION))
    for table, (columns, keys) in tables().items():
        database.execute("CREATE TABLE IF NOT EXISTS {} ({}, PRIMARY KEY ({}))".format(
            table, ", ".join("{} {}".format(*column) for column in columns),
            ", ".join(name for name, _ in columns[:keys])))
    return database


def make_job(number, count, rank_count, step_count, nodes):
    """Rows of one of `count` jobs as dictionaries: of job, of its ranks, of its steps."""
    chance = random.Random(number)
    storage = chance.choice(STORAGE)
    revision = number * REVISIONS // count
    name = chance.choice(NAMES)
    key = {"job_id": str(100000 + number), "attempt": int(number % 50 == 0)}
    time_s = chance.uniform(600, 86400)
    base = chance.uniform(0.01, 0.06) + (0.15 if storage == STORAGE[0] else 0) + (
        0.12 if name == BAD_NAME and revision >= BAD_REVISION else 0)
    count_of_nodes = -(-rank_count // RANKS_OF_NODE)
    hosts = chance.sample(nodes, min(count_of_nodes, len(nodes)))
    ranks = []
    for rank in range(rank_count):
        node = hosts[rank // RANKS_OF_NODE % len(hosts)]
        ratio = min(base + chance.uniform(0, 0.02) + (0.2 if node == BAD_NODE else 0), 0.9)
        load_s = time_s * chance.uniform(1, 3)
        read_bytes = int(time_s * 4e7)
        ranks.append(dict(
            key, rank_id=rank, node=node, gpu="H100" if number % 3 else None,
            batches=int(time_s * 4), verdict=verdict(ratio), stall_ratio=ratio,
            wait_s=ratio * time_s, time_s=time_s, load_s=load_s, open_s=load_s * 0.05,
            read_s=load_s * 0.3, decode_s=load_s * 0.5, other_s=load_s * 0.15,
            read_bytes=read_bytes, storage_bytes=read_bytes // 3, cause=chance.choice(CAUSES),
            blame_s=0.0, is_culprit=0))
    worst = max(ranks, key=lambda row: row["wait_s"])
    ratio = None if number % 97 == 0 else worst["stall_ratio"]
    has_culprit = ratio is not None and worst["node"] == BAD_NODE
    worst.update(blame_s=worst["wait_s"] * 0.8, is_culprit=int(has_culprit))
    job = dict(
        key, name=name, cluster="east", owner=chance.choice(OWNERS),
        revision="r{:02}".format(revision), dataset=chance.choice(DATASETS), storage=storage,
        started_unix_s=1.79e9 + number * 864000.0 / count, time_s=time_s, world_size=rank_count,
        ranks_seen=rank_count, gpus=rank_count if number % 3 else None,
        batches=int(time_s * 4) * rank_count, verdict=verdict(ratio), stall_ratio=ratio,
        at_most=int(not has_culprit), wait_s=ratio and ratio * time_s,
        starved=None if ratio is None else int(ratio >= 0.05),
        culprit=worst["rank_id"] if has_culprit else None, blame_share=0.8 if ratio else None,
        gain_max=ratio and 1 / (1 - ratio))
    steps = [dict(key, epoch=0, first_step=8 * i, width=8, stall_us=chance.randrange(200000),
                  second_us=100, rank_id=worst["rank_id"] if i % 3 else 0, starved=1,
                  pace_us=800000, sum_us=800000 * rank_count, ranks=rank_count)
             for i in range(step_count)]
    return job, ranks, steps


def verdict(ratio):
    if ratio is None:
        return "incomplete"
    return ("highly" if ratio >= 0.2 else "moderately" if ratio >= 0.05 else "not") + "_input_bound"


def fill(database, count, rank_count, step_count):
    nodes = ["node{:04}".format(i) for i in range(max(40, -(-rank_count // RANKS_OF_NODE)))]
    for number in range(count):
        for table, rows in zip(("job", "rank", "step"),
                               make_job(number, count, rank_count, step_count, nodes)):
            insert(database, table, [rows] if table == "job" else rows)
    database.commit()


def insert(database, table, rows):
    if rows:
        database.executemany("INSERT INTO {} ({}) VALUES ({})".format(
            table, ", ".join(rows[0]), ", ".join(":" + name for name in rows[0])), rows)
