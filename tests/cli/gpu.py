# SPDX-License-Identifier: Apache-2.0
"""The GPU in reports of databases whose GPU columns are filled in: clock, sums, gaps, advice.

The expected values are computed here from the rows, by the definitions of analysis/account/stall.h.
"""
import json
import os
import random
import re
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import html_file
import rundb

UTF8 = {"LC_ALL": "C.UTF-8"}
MS = rundb.MS
GAPS = ("data", "h2d", "sync", "host", "other")
META = {"clock": "gpu", "gpu": "NVIDIA H200", "cuda_mode": "cupti", "cupti_version": "130001",
        "cuda_records": "123456", "cuda_bad_ts": "0", "cuda_dropped": "0", "cuda_own_drop": "0"}


def report(*arguments, **changes):
    return t.run([t.REPORT] + list(arguments), env=t.environment(preload=False, **changes))


def facts(*arguments, status=0):
    def refuse(constant):
        raise ValueError(constant)
    result = report("--json", *arguments)
    t.equal((result.status, result.err), (status, ""), *arguments)
    return json.loads(result.out, parse_constant=refuse)


def flat(path, *options):
    result = report("-v", *options, path, **UTF8)
    t.equal((result.status, result.err), (0, ""), path)
    for line in result.out.splitlines():
        t.check(len(line) <= 80, "wider than 80:", repr(line))
    return re.sub(r"\s+", " ", result.out)


def run_of(path, steps, epochs=1, workers=4, idle=None, h2d_gap=0.05, pageable=1.0, seed=1,
           see=lambda i: True, meta=None, host=0, sync=0, kernels=300, **keywords):
    """A run of steps (wait ms, compute ms, ready): `idle` of each wait the GPU has no work.

    host, sync: shares of the computing for which it idles besides, for these reasons.
    """
    chance = random.Random(seed)
    batches, rows, now = [], [], rundb.START_NS
    for i, (wait, compute, ready) in enumerate(steps):
        per_epoch = len(steps) // epochs
        wait_ns, compute_ns = int(wait * MS), int(compute * MS)
        step_ns = wait_ns + compute_ns
        batch = {"epoch": i // per_epoch, "task": i % per_epoch, "batch": i % per_epoch,
                 "begin_ns": now, "wait_ns": wait_ns, "compute_ns": compute_ns, "step_ns": step_ns,
                 "load_ns": int(50 * MS * chance.uniform(0.9, 1.1)), "worker_id": i % workers,
                 "head_ready": ready, "qdepth": ready}
        now += step_ns
        if see(i):
            gaps = {"data": int(wait_ns * idle(i)), "h2d": int(compute_ns * h2d_gap),
                    "sync": chance.randrange(MS) + int(compute_ns * sync),
                    "host": chance.randrange(2 * MS) + int(compute_ns * host),
                    "other": chance.randrange(10000)}
            h2d_bytes = 4000000 + i
            batch.update(gpu_busy_ns=max(0, step_ns - sum(gaps.values())),
                         gpu_idle_wait_ns=gaps["data"], h2d_ns=int(compute_ns * 0.2),
                         h2d_bytes=h2d_bytes)
            row = {"loader_id": 1, "epoch": batch["epoch"], "task": batch["task"],
                   "kernel_count": kernels + i % 7, "graph_count": 2, "memset_ns": 1000 + i,
                   "d2h_ns": 500, "d2h_bytes": 4, "h2d_pageable_bytes": int(h2d_bytes * pageable),
                   "nccl_ns": 0, "sync_event_ns": 10 * i, "sync_stream_ns": 70000,
                   "sync_context_ns": 0}
            row.update({"gap_{}_ns".format(gap): ns for gap, ns in gaps.items()})
            rows.append(row)
        batches.append(batch)
    rundb.build(path, [rundb.loader(batches, workers=workers)], meta=dict(META, **(meta or {})),
                **keywords)
    database = sqlite3.connect(path)
    for row in rows:
        rundb.insert(database, "t_gpu_step", row)
    for place, (name, ns) in enumerate((("void gemm_kernel<float, 128>(float const*)", 9000 * MS),
                                        ("nccl_all_reduce", 800 * MS))):
        rundb.insert(database, "t_live", {"segment": "a", "slot": 0, "place": place,
                                          "kind": "kernel", "name": name, "detail": "", "class": 0,
                                          "count": 1000, "ns": ns, "bytes": 0, "pixels": 0,
                                          "slowest_ns": ns // 100, "error_ns": 0})
    database.commit()
    database.close()
    return path, batches, rows


def expected_ratio(batches, workers, by_gpu):
    """Returns all waits but the first, divided by waits and steps; by_gpu: the GPU's idle time in them."""
    seen = [b for b in batches if not by_gpu or b.get("gpu_idle_wait_ns") is not None]
    waits = [b["gpu_idle_wait_ns"] if by_gpu else b["wait_ns"] for b in seen if b["batch"] > 0]
    whole = sum((b["wait_ns"] if b["batch"] > 0 else 0) + (b["compute_ns"] or 0) for b in seen)
    return sum(waits) / whole


def close(found, expected, *what):
    t.check(found is not None and abs(found - expected) <= 1e-6 * max(1, abs(expected)), *what,
            found, expected)


def check_clock(folder):
    """The host waits 66 % of the time and the GPU idles 0.2 %; in another run it idles in all waits."""
    steps = [(66, 34, 0)] * 600
    for name, share, verdict in (("busy", 0.002 / 0.66, "not_input_bound"),
                                 ("idle", 1, "highly_input_bound")):
        path, batches, _ = run_of(os.path.join(folder, name + ".db"), steps, idle=lambda i: share)
        found = facts(path)
        close(found["stall"]["ratio"], expected_ratio(batches, 4, True), name, "ratio")
        t.equal((found["clock"], found["verdict"]), ("gpu", verdict), name)
        t.equal((found["coverage"]["gpu_share"], found["coverage"]["gpu_batches_left_out"]),
                (1, 0), name)
        text = flat(path)
        t.check("Clock the GPU's clock: waits while it was idle" in text, name, text)
        if name == "busy":
            t.check("NOT INPUT-BOUND" in text and "while the GPU had work" in text, text)
            t.equal(found["cause"], "none")
        else:
            t.check("the GPU is idle 66 % of the time, waiting for data" in text, text)
        # Without the GPU's columns the report goes by the host's clock.
        database = sqlite3.connect(path)
        database.execute("UPDATE t_batch SET gpu_idle_wait_ns = NULL, gpu_busy_ns = NULL")
        database.execute("DELETE FROM t_gpu_step")
        database.commit()
        database.close()
        found = facts(path)
        close(found["stall"]["ratio"], expected_ratio(batches, 4, False), name, "host's ratio")
        t.equal((found["clock"], found["verdict"]), ("host", "highly_input_bound"), name)
        t.check("upper bound" in flat(path), name)


def check_mixed(folder):
    """The GPU's records of a fifth of the batches are missing, then of more than half."""
    steps = [(40 if i % 3 else 2, 60, int(i % 3 == 0)) for i in range(1000)]
    for name, see, clock in (("fifth", lambda i: i % 100 >= 20, "gpu"),
                             ("most", lambda i: i % 100 >= 60, "host")):
        path, batches, _ = run_of(os.path.join(folder, name + ".db"), steps, see=see,
                                  idle=lambda i: 0.1 if i % 2 else 0.9)
        database = sqlite3.connect(path)
        last = batches[-1]["begin_ns"] + batches[-1]["step_ns"]
        for begin, end in ((1, 2 * 10**9), (last - 3 * 10**9, None)):
            rundb.insert(database, "t_gap", {"begin_ns": begin, "end_ns": end, "pid": 42,
                                             "why": "another program's CUPTI"})
        database.commit()
        database.close()
        found = facts(path)
        close(found["stall"]["ratio"], expected_ratio(batches, 4, clock == "gpu"), name, "ratio")
        t.equal(found["clock"], clock, name)
        unseen = [i for i in range(4, 1000) if not see(i)]
        t.equal(found["coverage"]["gpu_batches_left_out"], len(unseen) if clock == "gpu" else 0)
        close(found["coverage"]["gpu_share"], sum(map(see, range(1000))) / 1000, name, "share")
        t.equal((found["coverage"]["gpu_gaps"], found["coverage"]["gpu_gap_why"]),
                (2, "another program's CUPTI"), name)
        close(found["coverage"]["gpu_gaps_s"], 5 - 1e-9, name, "gaps, the second of which did not end")
        text = flat(path)
        t.check("GPU no records for 5.00 s in 2 gaps: another program's CUPTI" in text, name, text)
        words = ("the GPU's clock: waits while it was idle, known in 80 % of the batches; 200 are left "
                 "out" if clock == "gpu" else "the host's clock: what the main "
                 "process waited, an upper bound for the GPU, whose times are known for too few "
                 "batches: 40 %")
        t.check(words.replace("200", str(len(unseen))) in text, name, words, text)
        words = ("the GPU's clock, in 80 % of them" if clock == "gpu" else
                 "the host's clock, an upper bound More")
        t.check(words in text, name, "the screen", words, text)
        confidence = "medium" if clock == "gpu" else "high"
        t.equal(found["confidence"], confidence, name)


def check_sums(folder):
    """Every figure of the GPU is the sum of the rows, for the run and for a part of it, and the parts add up."""
    path, batches, rows = run_of(os.path.join(folder, "sums.db"),
                                 [(5 + i % 5, 50 + i % 9, 1) for i in range(600)], epochs=3,
                                 idle=lambda i: 0.5, see=lambda i: i % 50 != 7)
    database = sqlite3.connect(path)
    database.execute("UPDATE t_meta SET value = '1' WHERE key = 'x'")
    rundb.insert(database, "t_meta", {"key": "gpu_busy_is_upper_bound", "value": "1"})
    database.commit()
    database.close()
    for options, wanted in (((), lambda b: True), (("--epoch", "1"), lambda b: b["epoch"] == 1),
                            (("--epoch", "2", "--batches", "10:29"),
                             lambda b: b["epoch"] == 2 and 10 <= b["batch"] <= 29)):
        gpu = facts(path, *options)["gpu"]
        of = [b for b in batches if wanted(b) and "gpu_busy_ns" in b]
        keys = {(b["epoch"], b["task"]) for b in of}
        parts = [r for r in rows if (r["epoch"], r["task"]) in keys]
        t.equal(gpu["batches"], len(of), options)
        close(gpu["steps_s"], sum(b["step_ns"] for b in of) / 1e9, options, "steps")
        close(gpu["busy_s"], sum(b["gpu_busy_ns"] for b in of) / 1e9, options, "busy")
        for gap in GAPS:
            close(gpu["idle"][gap + "_s"], sum(r["gap_{}_ns".format(gap)] for r in parts) / 1e9,
                  options, gap)
        close(gpu["busy_s"] + sum(gpu["idle"].values()), gpu["steps_s"], options, "adds up")
        close(gpu["busy_share"] + gpu["idle_share"], 1, options, "shares")
        h2d = sum(b["h2d_bytes"] for b in of)
        t.equal(gpu["h2d_bytes"], h2d, options)
        close(gpu["h2d_pageable_share"], sum(r["h2d_pageable_bytes"] for r in parts) / h2d, options)
        close(gpu["h2d_bytes_per_s"], h2d / sum(b["h2d_ns"] for b in of) * 1e9, options, "rate")
        close(gpu["kernels_per_step"], sum(r["kernel_count"] for r in parts) / len(parts), options)
        close(gpu["sync"]["event_s"], sum(r["sync_event_ns"] for r in parts) / 1e9, options)
        close(facts(path, *options)["breakdown"]["h2d_s"], sum(b["h2d_ns"] for b in of) / 1e9)
        t.equal([k["name"] for k in gpu["kernels"]][1], "nccl_all_reduce")
        t.equal((gpu["device"], gpu["mode"], gpu["busy_is_upper_bound"]),
                ("NVIDIA H200", "cupti", True))
    text = flat(path)
    for words in ("The GPU (NVIDIA H200), in 588 steps (shares of them)", "at most: graphs are",
                  "idle while the training waited for a batch", "idle but for copies to it",
                  "100 % from pageable memory", "kernels and 2 graphs a step",
                  " gemm_kernel<float, 128> ", "host in sync"):
        t.check(words in text, "missing:", words, text)
    t.check("why is not known" not in text, "all of it is attributed", text)
    for width in (40, 60, 80, 100):
        for line in report("-v", path, COLUMNS=width, **UTF8).out.splitlines():
            t.check(len(line) <= width and line == line.rstrip(), width, repr(line))
    t.check(report("-v", "--ascii", path, **UTF8).out.isascii(), "--ascii")
    listed = list(report("batches", "--csv", path).out.splitlines())
    t.check("gpu_busy_s,gpu_idle_wait_s,h2d_s,h2d_bytes" in listed[0], listed[0])
    shown = facts(path)["stall"]["starved_batches"]
    t.equal(sum(b["starved"] or 0 for b in t.rows(path, "SELECT starved FROM batch")), 0)
    t.equal(shown, 0, "ready batches starve nothing")


def check_advice(folder):
    for name, gap, pageable, wanted, words in (
            ("advised", 0.1, 1, "pageable_h2d", "1. Copy batches to the GPU from pinned memory"),
            ("pinned", 0.1, 0.1, "hide_copies", "Copy batches to the GPU while it computes, or copy less: up to 1.11x"),
            ("hidden", 0.01, 1, "none", ""), ("both", 0.01, 0.1, "none", "")):
        path, _, _ = run_of(os.path.join(folder, name + ".db"), [(1, 50, 1)] * 400,
                            idle=lambda i: 0.2, h2d_gap=gap, pageable=pageable)
        advice = facts(path)["advice"]
        t.equal(advice[0]["id"], wanted, name)
        t.check(words in flat(path), flat(path))
        if words:
            share = 0.1 * 50 / 51
            t.check(abs(advice[0]["gain"] - (1 / (1 - share) - 1)) < 1e-4, advice)
            t.equal(advice[0]["at_most"], name == "pinned", name)
            t.equal("The GPU only receives for 9.8 % of the time: " in flat(path) and "90 % from pinned memory." in flat(path),
                    name == "pinned", name, flat(path))
            with sqlite3.connect(path) as database:
                rundb.insert(database, "t_note", {"level": "doubt", "text": "another thread asks"})
            t.equal(facts(path, status=3)["advice"], [], "no promise in doubt")
    # CUPTI refused to record kernels, so nobody knows in which time the GPU only received.
    path, _, _ = run_of(os.path.join(folder, "refused.db"), [(1, 50, 1)] * 400, idle=lambda i: 0.2, h2d_gap=0.1,
                        pageable=0.1)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE t_batch SET gpu_busy_ns = NULL, gpu_idle_wait_ns = NULL")
    found = facts(path)
    t.equal((found["gpu"]["busy_s"], found["gpu"]["h2d_pageable_share"] < 0.2), (None, True), "refused")
    t.equal([advice["id"] for advice in found["advice"]], ["none"], "refused")
    # This gains more than the first advice could at most.
    path, _, _ = run_of(os.path.join(folder, "event.db"), [(2500 if i == 200 else 0.5, 50, i != 200) for i in range(400)],
                        idle=lambda i: 1, h2d_gap=0.4)
    t.equal([advice["id"] for advice in facts(path)["advice"]], ["pageable_h2d", "find_event"], "order")
    for name in ("pageable_h2d", "clock", "gpu_idle", "collectives_alone_share"):
        result = report("--explain", name)
        t.check(result.status == 0 and result.out.startswith(name), name)


def check_lack(folder):
    """The report says what a GPU lacks that idles although it has data, and what to do about it."""
    for name, wait, changes, lack, step, words in (
            ("slow-host", 1, dict(host=0.4, kernels=700), "launches", "launch_less", "launches too slowly, 702 kernels"),
            ("items", 1, dict(sync=0.4), "orders", "wait_for_gpu_less", "the host had waited for it"),
            ("small", 1, dict(sync=0.5, host=0.3, kernels=3000), "launches", "launch_less", "slowly, 3,002 kernels"),
            ("little", 1, dict(host=0.2), None, "none", None),
            ("starved", 90, dict(host=0.4), None, None, None),
            ("busy-host", 1, dict(host=0.4, kernels=50), "host", None, "does other work than launching, 381 us for each launch"),
            ("both", 15, dict(host=0.5, kernels=700), "launches", "launch_less", "launches too slowly")):
        path, _, _ = run_of(os.path.join(folder, "lack-{}.db".format(name)), [(wait, 50, wait == 1)] * 400, h2d_gap=0.02,
                            idle=lambda i: 1, pageable=0, **changes)
        found = facts(path)
        t.equal((found["gpu"]["lack"], found["clock"]), (lack, "gpu"), name)
        ids = [advice["id"] for advice in found["advice"]]
        # Where the training waits for data, advice with a gain comes first.
        place = int(name == "both")
        t.check(ids[place] == step if step else not {"launch_less", "wait_for_gpu_less"} & set(ids), name, ids)
        t.check(lack is None or (found["advice"][place]["gain"] is None and
                                 (not place or found["advice"][0]["gain"] > 0)), name, found["advice"])
        idle = sum(found["gpu"]["idle"][gap + "_s"] for gap in ("sync", "host", "other"))
        close(found["gpu"]["lack_share"], idle / found["gpu"]["steps_s"], name)
        text = flat(path)
        t.check(words in text if words else "nothing to do" not in text, name, text)
        check_lack_part(path, name, lack)


PARTS = ("before", "backward", "between", "optimizer", "after")


def check_lack_part(path, name, lack):
    """The report says in which part of the step the GPU idles, if one part has more than half of the idle time."""
    idle = "(SELECT gap_sync_ns + gap_host_ns + gap_other_ns FROM t_gpu_step g WHERE g.task = t_gpu_part.task)"
    for shares, known, part, words in (
            ((80, 10, 0, 10, 0), 400, "before", "80 % of that before the backward pass: "),
            ((10, 0, 0, 0, 80), 400, "after", "80 % of that after the optimizer: "),
            ((80, 10, 0, 10, 0), 200, None, None), ((45, 45, 0, 0, 10), 400, None, None)):
        with sqlite3.connect(path) as database:
            database.execute("UPDATE t_batch SET before_ns = step_ns / 9, backward_ns = 5, between_ns = 5,"
                             " optimizer_ns = 5, save_ns = 0")
            database.execute("DELETE FROM t_gpu_part")
            database.execute("INSERT INTO t_gpu_part (loader_id, epoch, task, refill_ns) SELECT loader_id, epoch, task,"
                             " 7000000 FROM t_gpu_step WHERE task < ?", (known,))
            for where, share in zip(PARTS, shares):
                database.execute("UPDATE t_gpu_part SET idle_{0}_ns = {1} * ? / 100, launched_{0}_ns = 5".format(
                    where, idle), (share,))
        gpu, text = facts(path)["gpu"], flat(path)
        t.equal(gpu["lack_part"], part if lack else None, name, shares, known)
        t.check(" % of that " not in text if not (part and lack) else words in text, name, shares, known, text)
        close(gpu["refill_s"], 0.007 * known, name, "refill")
        close(gpu["parts"][0]["launched_s"], 5e-9 * known, name, "launched")
        for words in ("refilling", "By part of the step", r"between \S+ \S+ {}.00 us ".format(known // 200)):
            t.check(re.search(words, text), name, "missing", words, text)


def check_collectives(folder):
    """A GPU that spins in a collective is busy; the report says that it may wait for another rank."""
    for name, part, warned in ("waits", 0.4, True), ("computes", 0.9, False):
        path, batches, _ = run_of(os.path.join(folder, name + ".db"), [(1, 50, 1)] * 300, idle=lambda i: 0.5)
        database = sqlite3.connect(path)
        database.execute("UPDATE t_gpu_step SET nccl_ns = 30000000, gpu_loading_ns = 2000000, gpu_compute_ns = "
                         "(SELECT CAST(gpu_busy_ns * ? AS INTEGER) FROM t_batch b WHERE b.task = t_gpu_step.task)",
                         (part,))
        database.execute("INSERT INTO t_kernel VALUES (9, '_Z1kv', 'void ns::k<A<B<C<D> > >, (anonymous namespace)"
                         "::E>(float, int)')")
        database.execute("UPDATE t_live SET class = 9 WHERE place = 0")
        database.commit()
        database.close()
        gpu, busy = facts(path)["gpu"], sum(b["gpu_busy_ns"] for b in batches) / 1e9
        t.check(abs(gpu["busy_without_collectives_s"] - part * busy) < 1e-5, name, gpu, busy)
        t.check(abs(gpu["collectives_alone_s"] - (1 - part) * busy) < 1e-5, name, gpu, busy)
        close(gpu["collectives_alone_share"], gpu["collectives_alone_s"] / gpu["steps_s"], name)
        close(gpu["loading_s"], 0.6, name)
        t.equal(gpu["kernels"][0]["name"], "void ns::k<A<B<C<D> > >, (anonymous namespace)::E>(float, int)")
        text, screen = flat(path), re.sub(r"\s+", " ", report(path, **UTF8).out)
        for words in ("part of busy: kernels other than collectives", "part of busy: only collectives, which exchange",
                      "not counted as busy: kernels of a GPU loader",
                      " ns::k<A<B<C<D> > >, (anonymous namespace)::E> "):
            t.check(words in text, name, "missing:", words, text)
        t.equal("in collectives alone 55 % of the time: another rank may be late" in screen, warned, name, screen)


def check_ranks(folder):
    """Text, JSON, page and gate name the rank that is least in the collective: the others wait for that rank."""
    job = os.path.join(folder, "job")
    os.mkdir(job)
    for rank, part in enumerate((0.95, 0.45)):
        path, _, _ = run_of(os.path.join(job, "rank-{}.db".format(rank)), [(1, 50, 1)] * 400, idle=lambda i: 0.5,
                            meta={"rank": str(rank)})
        database = sqlite3.connect(path)
        database.execute("UPDATE t_gpu_step SET nccl_ns = 1, gpu_compute_ns = (SELECT CAST(gpu_busy_ns * ? AS INTEGER)"
                         " FROM t_batch b WHERE b.task = t_gpu_step.task)", (part,))
        database.commit()
        database.close()
    shares = [rank["collectives_alone_share"] for rank in facts(job)["ranks"]]
    t.check(0.04 < shares[0] < 0.05 and 0.48 < shares[1] < 0.55, "shares", shares)
    words = ("the GPU of rank 0 is in collectives alone 4.6 % of the time, that of rank 1 50 %: "
             "the others wait for rank 0")
    text = re.sub(r"\s+", " ", report(job, **UTF8).out)
    t.check("Waits " + words in text, "missing:", words, text)
    t.check("Clock the GPU's clock: waits while it was idle" in text, "the ranks' clock", text)
    page = html_file.check_page(job, "ranks of GPUs", has_script=False)[0]
    header = html_file.words_of(page.all("header")[0])
    t.check(words in header, "missing in the page:", words, header)
    check_gate(folder, job, shares)
    database = sqlite3.connect(path)
    database.execute("UPDATE t_batch SET gpu_idle_wait_ns = NULL, gpu_busy_ns = NULL")
    database.commit()
    database.close()
    text = re.sub(r"\s+", " ", report(job, **UTF8).out)
    t.check("Clock the GPU's clock: waits while it was idle, in 1 of the ranks; else the host's "
            "clock, an upper bound" in text, "the ranks' clocks", text)


def gate(run, limit):
    result = report("gate", "--json", run, "--limit", limit)
    t.equal(result.err, "", run)
    found = json.loads(result.out)
    return result.status, found["assertions"][0], found["runs"], found["why"]


def check_gate(folder, job, shares):
    """A limit on the time with collectives alone is judged by the rank with most of it, if that is known."""
    limits = {}
    for share in ("20%", "60%"):
        limits[share] = "gpu.collectives_alone_share<=" + share
    late, waits = (os.path.join(job, "rank-{}.db".format(rank)) for rank in (0, 1))
    for run, share, status, outcome in ((job, "20%", 1, "failed"), (job, "60%", 0, "passed"),
                                        (late, "20%", 0, "passed")):
        found = gate(run, limits[share])
        t.equal((found[0], found[1]["outcome"]), (status, outcome), run, share, found)
    _, item, runs, why = gate(job, limits["20%"])
    t.equal(why, "gpu.collectives_alone_share <= 20% does not hold in {}: {:.1f} %; its GPU exchanged data "
            "with other ranks, or waited for them.".format(waits, 100 * shares[1]))
    t.equal(item["run"], waits, "the rank that waits most")
    for rank, share in enumerate(shares):
        close(runs[rank]["collectives_alone_share"], share, "the row of ranks says the same")
    close(item["found"], shares[1], "found")
    idle = json.loads(t.report("--json", late).out)["gpu"]["idle_share"]
    close(gate(late, "gpu.idle<=100%")[1]["found"], idle, "the GPU's idle share is that of the report")
    # The time is unknown by the host's clock, in older databases, and where graphs are recorded as wholes.
    unseen = "UPDATE t_batch SET gpu_idle_wait_ns = NULL, gpu_busy_ns = NULL"
    for name, change in (("none", unseen), ("few", unseen + " WHERE task >= 100"),
                         ("older", "UPDATE t_gpu_step SET gpu_compute_ns = NULL"),
                         ("graphs", "INSERT INTO t_meta VALUES ('gpu_busy_is_upper_bound', '1')")):
        path = os.path.join(folder, "unknown-{}.db".format(name))
        shutil.copy(late, path)
        database = sqlite3.connect(path)
        database.execute(change)
        database.commit()
        database.close()
        status, item, runs, _ = gate(path, limits["60%"])
        t.equal((status, item["outcome"], item["reason_id"], item["found"], runs[0]["collectives_alone_share"]),
                (3, "inconclusive", "not_observed", None, None), name)


def check_host_only(folder):
    """If only the host's calls of CUDA were recorded, the report does not go by the GPU's clock."""
    meta = {"clock": "host", "cuda_mode": "cudart", "gpu": None,
            "cuda_reason": "CUPTI is in use by another program"}
    path, batches, _ = run_of(os.path.join(folder, "host.db"), [(20, 30, 0)] * 300,
                              idle=lambda i: 0, meta=meta)
    database = sqlite3.connect(path)
    database.execute("UPDATE t_batch SET gpu_busy_ns = NULL, gpu_idle_wait_ns = NULL, h2d_ns = NULL")
    database.execute("UPDATE t_gpu_step SET nccl_ns = NULL, memset_ns = NULL, d2h_ns = NULL, "
                     + ", ".join("gap_{}_ns = NULL".format(gap) for gap in GAPS))
    database.execute("DELETE FROM t_live")
    database.commit()
    database.close()
    found = facts(path)
    close(found["stall"]["ratio"], expected_ratio(batches, 4, False), "ratio")
    t.equal((found["clock"], found["gpu"]["mode"], found["gpu"]["busy_s"],
             found["gpu"]["idle"]["data_s"], found["breakdown"]["h2d_s"]),
            ("host", "cudart", None, None, None))
    close(found["gpu"]["kernels_per_step"], sum(300 + i % 7 for i in range(300)) / 300, "launches")
    text = flat(path)
    for words in ("GPU only the host's calls were recorded, not the GPU's own times: CUPTI is in "
                  "use by another program", "kernels and 2 graphs a step", "not seen without CUPTI", "upper bound"):
        t.check(words in text, "missing:", words, text)
    plain = rundb.healthy(os.path.join(folder, "plain.db"))
    t.equal(facts(plain)["gpu"], None, "no GPU")
    t.check("GPU," not in flat(plain) and "The GPU" not in flat(plain), flat(plain))


def check_older(folder):
    """A database of a version that had nothing of GPUs."""
    path, batches, _ = run_of(os.path.join(folder, "older.db"), [(20, 30, 0)] * 200,
                              idle=lambda i: 0.5, version=2)
    database = sqlite3.connect(path)
    database.executescript("DROP VIEW gpu_step; DROP TABLE t_gpu_step;")
    database.commit()
    database.close()
    found = facts(path)
    close(found["stall"]["ratio"], expected_ratio(batches, 4, True), "ratio")
    close(found["gpu"]["idle"]["data_s"], sum(b["gpu_idle_wait_ns"] for b in batches) / 1e9, "data")
    t.equal(found["gpu"]["idle"]["h2d_s"], None)
    t.check("idle, and why is not known" in flat(path), flat(path))


def check_absurd(folder):
    """With any values in the GPU's columns the report gives an answer or one error, and does not crash."""
    values = (None, -1, 0, 2**63 - 1, -2**63, "12", "x", b"\xff", 1.5, -1e300, 1e300)
    for seed in range(10):
        chance = random.Random(seed)
        path, batches, rows = run_of(os.path.join(folder, "absurd.db"), [(10, 20, 0)] * 60,
                                     idle=lambda i: 0.5, seed=seed)
        database = sqlite3.connect(path)
        for _ in range(400):
            table, row = (("t_gpu_step", rows[0]) if chance.random() < 0.6 else
                          ("t_batch", {"gpu_busy_ns": 0, "gpu_idle_wait_ns": 0, "h2d_ns": 0,
                                       "h2d_bytes": 0, "step_ns": 0}))
            column = chance.choice([c for c in row if c not in ("loader_id", "epoch", "task")])
            database.execute("UPDATE {} SET {} = ? WHERE task = ?".format(table, column),
                             (chance.choice(values), chance.randrange(60)))
        for key in ("gpu_busy_is_upper_bound", "cuda_records", "cuda_mode", "clock"):
            database.execute("INSERT OR REPLACE INTO t_meta VALUES (?, ?)",
                             (key, chance.choice(values)))
        rundb.insert(database, "t_gap", {"begin_ns": -2**63, "end_ns": chance.choice(values),
                                         "pid": 1, "why": chance.choice(values)})
        database.commit()
        database.close()
        found = facts(path)
        ratio = found["stall"]["ratio"]
        t.check(ratio is None or 0 <= ratio <= 1, seed, "ratio", ratio)
        share = found["gpu"]["busy_share"]
        t.check(share is None or 0 <= share <= 1, seed, "busy", share)
        flat(path)
        t.equal(report("batches", "--csv", path).status, 0, seed)


def check_pack(folder):
    """The sums of a long run are in its pack, which is removed when a GPU's step changes."""
    count = 100100
    path = os.path.join(folder, "table.csv")
    with open(path, "w", encoding="ascii") as table:
        table.write("batch,wait_us,compute_us,gpu_idle_us,gpu_busy_us\n")
        table.writelines("{},{},10000,{},{}\n".format(i, 9000 if i % 4 == 0 else 10,
                                                      3000 if i % 4 == 0 else 1, 9000)
                         for i in range(count))
    run = os.path.join(folder, "long.db")
    result = report("import", path, "-o", run, "--meta", "workers=4")
    t.equal((result.status, result.err), (0, ""))
    packed = facts(run)
    t.equal(packed["clock"], "gpu")
    t.equal(t.rows(run, "SELECT COUNT(*) AS n FROM t_pack WHERE part = 0"), [{"n": 1}])
    close(packed["gpu"]["idle"]["data_s"], (count // 4 * 3003 ) / 1e6, "data")
    database = sqlite3.connect(run)
    database.execute("ALTER TABLE t_pack RENAME TO t_pack_away")
    database.commit()
    t.equal(facts(run), packed, "the rows say what the pack said")
    database.execute("ALTER TABLE t_pack_away RENAME TO t_pack")
    rundb.insert(database, "t_gpu_step", {"loader_id": 1, "epoch": 0, "task": 3, "gap_h2d_ns": 7})
    database.commit()
    database.close()
    t.equal(t.rows(run, "SELECT COUNT(*) AS n FROM t_pack"), [{"n": 0}], "no longer true")
    close(facts(run)["gpu"]["idle"]["h2d_s"] * 1e9, 7, "the rows are read")


def main():
    folder = t.scratch()
    for check in (check_clock, check_mixed, check_sums, check_advice, check_lack, check_collectives, check_ranks,
                  check_host_only, check_older, check_absurd, check_pack):
        check(folder)
    t.finish()


main()
