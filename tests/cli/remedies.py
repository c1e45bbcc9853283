# SPDX-License-Identifier: Apache-2.0
"""Each remedy against useless work of a run is given where that work was observed, and only there."""
import json
import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import forms
import rundb

SAMPLES = 32


def insert_made(database, batches, tensors, batch_bytes):
    for batch in batches:
        rundb.insert(database, "t_made", {"loader_id": 1, "epoch": batch["epoch"], "task": batch["task"],
                                          "tensor_count": tensors, "batch_bytes": batch_bytes})


def build(path, batch_bytes, decode=0.0, pixels=0, images=0, asked=0.0, peer="", tensors=2,
          decoder=("libjpeg", "JPEG", 2048), again=0, file="", others=0, spread=0.0, **changes):
    """Two workers that cannot keep up.

    decode: share of the loads; pixels, images: a sample, of each second batch a share of `spread` more;
    asked: share of the loads, waiting for `peer`.
    again: bytes of `file` that are read for each byte of a batch, in small pieces, for half of the loads;
    others: cores that other programs take.
    """
    batches = rundb.simulate(changes.pop("count", 300), 2, changes.pop("load_ms", 120), 20,
                             delivery_ms=changes.pop("delivery_ms", 0.3), epochs=changes.pop("epochs", 1),
                             slow=changes.pop("slow", ()))
    for number, batch in enumerate(batches):
        batch.update(decode_count=int(images * SAMPLES * (1 + spread * (number % 2))),
                     decode_ns=int(batch["load_ns"] * decode), blocked_ns=int(batch["load_ns"] * asked),
                     cpu_ns=int(batch["load_ns"] * (0.95 - asked)), read_ns=0, read_bytes=0, storage_bytes=0)
        if again:
            batch.update(read_ns=batch["load_ns"] // 2, read_bytes=batch_bytes * again,
                         read_count=batch_bytes * again // 4096)
        if others:
            batch.update(cpu_ns=batch["load_ns"] // 2)
    meta = {"schema": "10", "cpus": "2" if not asked else "8"}
    if others:
        meta.update(other_cpu_ns=str(int(others * 1e9)), other_cpu_of_ns=str(10**9), workers_ran_ns=str(10**9),
                    workers_waited_ns=str(10**9), main_ran_ns=str(10**9), main_waited_ns=str(10**9))
    rundb.build(path, [rundb.loader(batches, workers=2, batch_size=SAMPLES, **changes)], meta=meta)
    load_ns, count = sum(batch["load_ns"] for batch in batches), len(batches)
    with sqlite3.connect(path) as database:
        if images:
            database.execute("INSERT INTO t_total VALUES ('decode', ?, ?, ?, ?, ?, 0, ?, 0, 0)",
                             (*decoder, images * SAMPLES * count, int(load_ns * decode), pixels * SAMPLES * count))
        if file:
            database.execute("INSERT INTO t_total VALUES ('file', ?, '', 0, 2, ?, ?, 0, 1000, 0)",
                             (file, load_ns // 2, batch_bytes * again * count))
        if peer:
            database.execute("INSERT INTO t_total VALUES ('wait', ?, 'socket', 0, ?, ?, 1, 0, 1000, 0)",
                             (peer, count, int(load_ns * asked)))
        insert_made(database, batches, tensors, batch_bytes)
    return path


def check(name, path, wanted, words="", unwanted=()):
    """Checks the first step of advice, words in it, and that other steps are not given."""
    found = t.report("--json", path)
    advice = json.loads(found.out)["advice"]
    ids = [step["id"] for step in advice]
    t.check(ids[0] == wanted if wanted else True, name, "the first step", ids)
    t.check(not set(ids) & set(unwanted), name, "has", ids)
    text = forms.flat(forms.run(path))
    t.check(words in text, name, "lacks", words, text)
    return advice[0]


def check_pixels(folder):
    """JPEGs of 1600x1200 for 224 pixels: decoding takes 36 % of a load; smaller files save more than that."""
    size = SAMPLES * 224 * 224 * 3
    large = dict(decode=0.36, pixels=1600 * 1200, images=1)
    step = check("pixels", build(os.path.join(folder, "pixels.db"), size, **large), "decode_bound",
                 "38.3 bytes of pixels are decoded for each byte of a batch")
    t.check(step["gain"] < 0.7 < 1.5 < step["ci95"][1], "the range ends where all of a load is smaller", step)
    for name, asked in (("one", 0.05), ("several", 0.6)):
        path = build(os.path.join(folder, name), size, decode=0.9, images=1, pixels=1600 * 1200, asked=asked, peer="10.0.0.7:9")
        t.equal("partly at the same time" in forms.flat(forms.run(path)), name == "several", name, "threads")
    check("fitting", build(os.path.join(folder, "fitting.db"), 8 * size, **large), "reduce_cpu_per_batch",
          unwanted=["decode_bound"])


def check_media(folder):
    """The advice for audio and video differs from that for images."""
    audio, video = ("libsndfile", "audio", 0), ("libavcodec", "video", 512)
    size, frames = SAMPLES * 224 * 224 * 3, dict(images=40, pixels=224 * 224 * 40)
    for name, decoder, again, wanted, words, never in (
            ("heard", audio, 0, "decode_bound", "1. Decode less audio", "LZ4"),
            ("part", audio, 16, "read_less", "16 bytes are read for each byte of a batch. Read only the part that is used: "
             "soundfile.read(", "HDF5"),
            ("seen", video, 0, "decode_bound", "1. Decode fewer frames", "draft()"),
            ("pictures", ("libjpeg", "JPEG", 2048), 0, "decode_bound", "Pillow's draft()", "frames")):
        path = build(os.path.join(folder, name + ".db"), size, decode=0.45, again=again, decoder=decoder,
                     **dict(frames, pixels=0 if decoder is audio else frames["pixels"]))
        check(name, path, wanted, words)
        t.check(never not in forms.flat(forms.run(path)), name, "says", never)
    t.check("40 frames are decoded for each sample" in forms.flat(forms.run(os.path.join(folder, "seen.db"))), "frames")
    few = build(os.path.join(folder, "few.db"), 8 * size, decode=0.6, decoder=video, **frames)
    check("few", few, None, "Store videos at the size", ["read_less"])
    t.check("Decode fewer frames" not in forms.flat(forms.run(few)), "frames that are used")


def check_database(folder):
    """Tables that are scanned need an index; less work is advised before cores that other programs use."""
    for name, file, words in (("table", "/data/train.sqlite", "EXPLAIN QUERY PLAN"), ("chunks", "/data/train.h5", "Chunk HDF5")):
        for others in (0, 1):
            path = build(os.path.join(folder, name + str(others)), 48000, again=2700, file=file, others=others)
            check(name, path, "read_less", "2,700 bytes are read for each byte of a batch. ", ["small_reads"])
            t.check(words in forms.flat(forms.run(path)), name, others, "lacks", words)
            t.check("2.7e" not in forms.run(path, "-v"), "2,700 in all places")
    path = build(os.path.join(folder, "packed"), 48000, decode=0.45, images=1, pixels=48000 * 30 // SAMPLES,
                 decoder=("zlib", "deflate", 0))
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO t_total VALUES ('file', '/data/ct.nii.gz', '', 0, 2, 1, 1, 0, 1000, 0)")
    check("packed", path, "read_less", "30 bytes are inflated for each byte of a batch. A compressed file is read from its start")
    path = build(os.path.join(folder, "needed"), 48000, again=4, file="/data/train.sqlite", others=1)
    check("neighbours", path, "own_cores", "Other programs took 1 of the 2 cores: pin the training", ["read_less"])
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO t_meta VALUES ('world_size', '2')")
    check("ranks", path, "own_cores", "1. Give each rank cores of its own", ["read_less"])
    t.check("Other ranks and programs took 1 of the 2 cores: run fewer of them on this machine, or let the loads of "
            "all ranks need less CPU." in forms.flat(forms.run(path)), "ranks", forms.flat(forms.run(path)))


def check_split(folder):
    stream = dict(decode=0.6, pixels=2 * 256 * 256, kind="torch.DataLoader (iterable)")
    size = SAMPLES * 256 * 256 * 3
    path = os.path.join(folder, "split.db")
    check("split", build(path, size, images=2, **stream), "split_first", "get_worker_info()")
    check("three images", build(path + "3", size, images=3, **stream), None, unwanted=["split_first"])
    check("pairs", build(path + "2", size, images=2, **dict(stream, kind="torch.DataLoader")), None, unwanted=["split_first"])


def check_drawn(folder):
    """Samples decode seven images for one in the batch; samples that need all seven have them in the batch."""
    drawn = dict(decode=0.6, pixels=7 * 256 * 256, images=7)
    size = SAMPLES * 256 * 256 * 3
    path = os.path.join(folder, "drawn.db")
    check("drawn", build(path, size, spread=0.4, **drawn), "decode_fewer", "7 images are decoded for each sample",
          ["decode_bound"])
    check("frames", build(path + "2", size, **drawn), None, unwanted=["decode_fewer"])
    check("mosaic", build(path + "5", size, spread=0.2, **drawn), None, unwanted=["decode_fewer"])
    check("clips", build(path + "6", size, spread=0.4, decoder=("libavcodec", "video", 512), **drawn), None,
          unwanted=["decode_fewer"])
    check("padded", build(path + "3", 7 * size, spread=0.4, **drawn), None, unwanted=["decode_fewer"])
    path = build(path + "4", size, spread=0.4, **drawn)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE t_made SET batch_bytes = batch_bytes / 2 WHERE task % 4 = 0")
    check("of any length", path, None, unwanted=["decode_fewer"])


def check_firsts(folder):
    """First loads of an epoch that are slow, but not by files, may fill a shuffle buffer."""
    path = os.path.join(folder, "firsts.db")
    words = "If it fills a shuffle buffer, make that smaller"
    for opens in range(2):
        batches = rundb.simulate(160, 2, lambda i: 2500 if i < 2 else 6, 20, epochs=3)
        for batch in batches:
            batch.update(open_count=opens, read_ns=opens * batch["load_ns"] // 2, open_ns=0)
        rundb.build(path + str(opens), [rundb.loader(batches, workers=2, persistent=1,
                                                     kind="torch.DataLoader (iterable)")])
        check("first loads", path + str(opens), "cheaper_starts", "" if opens else words)
        text = forms.flat(forms.run(path + str(opens)))
        t.equal(words in text, not opens, "that open", opens)
        t.check("A worker's first load of an epoch takes 2.49 s, others 6.00 ms." in text, "why", text)
        t.check("A load waits" not in text, "for nobody", text)
    # The first loads ask a server, and take most of all loads' time.
    for name, slow_ms, other_ms in (("asking", 2500, 6), ("seldom", 700, 12)):
        batches = rundb.simulate(160, 2, lambda i: slow_ms if i < 2 else other_ms, 20, epochs=3)
        for batch in batches:
            batch.update(read_ns=0, open_ns=0, blocked_ns=batch["load_ns"] * 97 // 100, cpu_ns=batch["load_ns"] // 50)
        rundb.build(path + name, [rundb.loader(batches, workers=2, persistent=1)], meta={"schema": "10"})
        with sqlite3.connect(path + name) as database:
            database.execute("INSERT INTO t_total SELECT 'wait', '10.0.0.7:443', 'socket', 0, COUNT(*),"
                             " SUM(load_ns) * 97 / 100, 1, 0, 1000, 0 FROM t_batch")
        text = forms.flat(forms.run(path + name))
        t.equal("A load waits for 10.0.0.7:443 in 97 % of its time" in text, name == "asking", name, text)
        t.check("A worker's first load of an epoch takes" in text, name, text)
        t.equal("What a first load asks for in each epoch (a list of files, say), ask once" in text, name == "asking",
                name, text)

    starts = dict(load_ms=38, count=12, epochs=14, persistent=1)
    step = check("read in vain", build(path + "r", 48000, again=48, file="/data/views.pt", **starts), "read_less",
                 "48 bytes are read for each byte of a batch")
    t.check(0.05 <= step["gain"] < 0.2, "only the first loads are waited for", step)
    check("read once", build(path + "n", 48000, again=1, file="/data/views.pt", **starts), "cheaper_starts",
          unwanted=["read_less"])


def check_starts(folder):
    """Five epochs begin with loads of 3 s, all others take 5 ms: not the cores are short, but the workers' lives."""
    path = build(os.path.join(folder, "starts.db"), 48000, count=40, epochs=5, load_ms=lambda i: 3000 if i < 2 else 5)
    step = check("starts", path, "persistent_workers", "persistent_workers=True: up to")
    t.check(step["at_most"] and step["gain"] > 2, step)
    text = forms.flat(t.report("-v", path).out)
    t.check("Load 155 ms: collate" in text and "One load takes 155 ms on average, 5.00 ms in steady" in text, text)
    t.check("cores are used up" not in text and "no number is enough" not in text, "cores", text)


def check_around(folder):
    """An iterator takes batches from the loader and works on them in the training's thread, most of a step or little."""
    own, path = ("/home/me/train.py", "<module>", 20), os.path.join(folder, "around.db")
    work = ("/usr/lib/python3/site-packages/fast/transforms.py", "blur", 7)
    for name, package, count, wanted in (("fast", "fast/core.py", 240, True), ("geometric", "torch_geometric/loader/base.py", 240, True),
                                         ("little", "fast/core.py", 20, False), ("all", "fast/core.py", 390, False),
                                         ("no workers", "fast/core.py", 240, False)):
        workers = 0 if name == "no workers" else 2
        around = ("/usr/lib/python3/site-packages/" + package, "Batches.__next__", 39)
        rundb.build(path, [rundb.loader(rundb.simulate(80, workers, 5, 150), workers=workers)],
                    lines=[("main", 1, "step", [work, around, own], count),
                           ("main", 1, "step", [("/home/me/train.py", "step", 30), own], 400 - count)])
        step = check(name, path, "work_in_workers" if wanted else "", unwanted=[] if wanted else ["work_in_workers"])
        text = forms.flat(forms.run(path))
        t.equal("Batches.__next__ takes 60 % (± 5) of the steps: a stopwatch around it counts that as waiting" in text, wanted, name, text)
        t.equal("filter_per_worker=True" in text, name == "geometric", name)
        if wanted:
            t.check(step["at_most"] and 1.3 < step["gain"] < 1.5, "1 / (1 - 0.6 x the steps' share of the time)", step)


def check_bursts(folder):
    """A training that takes 16 batches one after the other, of which 2 or 16 are kept ready."""
    path = os.path.join(folder, "bursts.db")
    for prefetch in (2, 16):
        batches = rundb.simulate(320, 1, 6, lambda i: 160 if i % 16 == 15 else 0.2, prefetch=prefetch)
        rundb.build(path, [rundb.loader(batches, workers=1, batch_size=8, prefetch_factor=prefetch)])
        check("bursts", path, "prefetch_or_in_order_false" if prefetch == 2 else "", "prefetch_factor=16" if prefetch == 2 else "")
        text = forms.flat(forms.run(path))
        t.equal("It takes 16 batches at once; 2 are kept ready." in text, prefetch == 2, prefetch, text)
        t.check("put the 16 batches of a step together" not in text, "each is a step of its own", text)


def check_manager(folder):
    manager = "/tmp/pymp-rfr0sqls/listener-l69knm_t"
    for name, peer, wanted, unwanted in (("manager", manager, "share_without_manager", "fewer_requests"),
                                         ("server", "10.0.0.7:9000", "fewer_requests", "share_without_manager")):
        path = build(os.path.join(folder, name + ".db"), 1 << 20, asked=0.6, peer=peer)
        check(name, path, wanted, peer[:12], unwanted=[unwanted])
        t.equal("waits for a multiprocessing.Manager, " in forms.flat(forms.run(path)), name == "manager", name)


def check_slow(folder):
    """What workers of which one is slow wait for is said if it is half of their loads or more."""
    for asked in (0.9, 0.4):
        path = build(os.path.join(folder, "slow.db"), 1 << 20, asked=asked, peer="10.0.0.7:9000", load_ms=12, slow={1: 8})
        check("slow", path, "fix_slow_worker")
        text, gain = forms.flat(forms.run(path)), dict(
            (step["id"], step["gain"]) for step in json.loads(t.report("--json", path).out)["whatif"])["in_order_false"]
        words = ("Loads wait for 10.0.0.7:9000 in 90 % of their time: compare what the slow workers ask of it. "
                 "Until then, in_order=False: about {:.1f}x.".format(1 + gain))
        t.check((words if asked == 0.9 else "Compare the slow workers' cores, NUMA node") in text, asked, words, text)


def check_bytes(folder):
    """Receiving large batches is named, although without it the workers would limit the training."""
    path = os.path.join(folder, "bytes.db")
    large = dict(load_ms=88, delivery_ms=25)
    step = check("bytes", build(path, 38535424, **large), "send_less", "A batch has 38.5 MB. Send smaller types (float16")
    check("bytes of images", build(path + "i", 38535424, images=1, decode=0.2, pixels=64 * 64, **large), "send_less",
          "A batch has 38.5 MB. Send uint8 instead of float32")
    t.check(step["at_most"], "no more than ideal input", step)
    check("many", build(path + "m", 1 << 20, tensors=40, load_ms=30, delivery_ms=25), "reduce_delivery_cost",
          "A batch has 40 tensors. Let collate_fn")
    for kind in ("torch.DataLoader", "torchdata.StatefulDataLoader (iterable)"):
        check(kind, build(path + kind[-9:], 1 << 20, kind=kind, **large), "inspect_waits", unwanted=["send_less"])
        t.equal("the state of its worker's dataset" in forms.flat(forms.run(path + kind[-9:])), kind.startswith("torchdata"),
                kind)


def check_made_again(folder):
    """The program makes a loader for each epoch, so that persistent_workers=True does not help."""
    path, setup_ns = os.path.join(folder, "again.db"), 400 * rundb.MS
    for starts in (1, 8):
        batches = rundb.simulate(20, 2, 30, 20, epochs=8)
        for batch in batches:
            batch["begin_ns"] += batch["epoch"] * setup_ns
            batch["load_begin_ns"] += batch["epoch"] * setup_ns
        rundb.build(path, [rundb.loader(batches, workers=2, persistent=1)])
        with sqlite3.connect(path) as database:
            database.execute("UPDATE t_epoch SET setup_ns = ?1, sample_ns = 0, begin_ns = (SELECT MIN(begin_ns) FROM t_batch b"
                             " WHERE b.epoch = t_epoch.epoch) - ?1", (setup_ns,))
            for worker in range(2 * starts):
                rundb.insert(database, "t_process", {"pid": 50 + worker, "start_ticks": 2, "role": "worker",
                                                     "worker_id": worker % 2, "loader_id": 1})
        if starts == 1:
            check("made once", path, "cheaper_starts", "Make epochs longer", ["persistent_workers"])
        else:
            check("made again", path, "persistent_workers", "1. Make the loader once, before the loop over epochs: ")


def check_sampler(folder):
    """A sampler chooses an epoch's samples in 0.4 s, by asking the dataset for them or by itself."""
    path, setup_ns = os.path.join(folder, "sampler.db"), 400 * rundb.MS
    words = "The sampler asks the dataset for samples. What it needs of them (lengths, labels) can be found once, in __init__."
    for function in ("Speech.__getitem__", "Buckets.__iter__"):
        batches = rundb.simulate(20, 2, 30, 20, epochs=8)
        for batch in batches:
            batch["begin_ns"] += batch["epoch"] * setup_ns
            batch["load_begin_ns"] += batch["epoch"] * setup_ns
        rundb.build(path, [rundb.loader(batches, workers=2, persistent=1)],
                    lines=[("main", 1, "epoch_start", [("/home/me/train.py", function, 20), ("/home/me/train.py", "main", 50)], 400)])
        with sqlite3.connect(path) as database:
            database.execute("UPDATE t_epoch SET setup_ns = ?1, sample_ns = ?1, begin_ns = (SELECT MIN(begin_ns) FROM t_batch b"
                             " WHERE b.epoch = t_epoch.epoch) - ?1", (setup_ns,))
        check("sampler", path, "vectorise_sampler")
        t.equal(words in forms.flat(forms.run(path)), function == "Speech.__getitem__", function)


def check_idle(folder):
    """One of three workers makes all batches: with data, the three load three times as fast as one, at most."""
    path = os.path.join(folder, "idle.db")
    rundb.build(path, [rundb.loader(rundb.simulate(200, 1, 60, 5), workers=3)])
    step = check("idle", path, "more_shards", "split it into more shards: up to 3.0x Write at least")
    t.check(step["at_most"] and step["gain"] == 2, step)
    t.check("never idle" not in forms.flat(t.report("-v", path).out), "two workers did nothing")


def check_anew(folder):
    """The program makes an iterator for each batch, so that the advice is not to keep workers."""
    path = os.path.join(folder, "anew.db")
    rundb.build(path, [rundb.loader(rundb.simulate(1, 2, 60, 20, epochs=160), workers=2)])
    check("anew", path, "persistent_workers", "1. Make the iterator once, before the loop", ["cheaper_starts"])
    rundb.build(path, [rundb.loader(rundb.simulate(1, 2, 60, 20, epochs=160), workers=2, persistent=1)])
    check("anew, persistent", path, "cheaper_starts", "1. Make the iterator once, before the loop")
    rundb.build(path, [rundb.loader(rundb.simulate(1, 2, 60, 20, epochs=160), workers=2, kind="torchdata.nodes")])
    check("anew, without DataLoader", path, None, unwanted=["persistent_workers"])
    rundb.build(path, [rundb.loader(rundb.simulate(1, 2, 60, 20, epochs=160), workers=2,
                                    kind="torchdata.StatefulDataLoader")])
    check("anew, a DataLoader of torchdata", path, "persistent_workers")
    rundb.build(path, [rundb.loader(rundb.simulate(1, 0, 60, 20, epochs=160), workers=0)])
    check("anew, no workers", path, None, unwanted=["use_workers"])
    for epochs in (20, 1):
        rundb.build(path, [rundb.loader(rundb.simulate(160 // epochs, 0, 60, 20, epochs=epochs), workers=0)])
        check("no workers", path, "use_workers")
        t.equal("persistent_workers=True: they start once" in forms.flat(forms.run(path)), epochs > 1, epochs)
    rundb.build(path, [rundb.loader(rundb.simulate(160, 0, 60, 20), workers=0, kind="torch.DataLoader (iterable)")])
    check("each yields all", path, "use_workers", "; each yields all samples, unless __iter__ deals them out by get_worker_info()")


def check_shards(folder):
    """More workers may find no shard of an iterable dataset, so that less CPU goes first, and what is read in vain."""
    path = os.path.join(folder, "shards.db")
    for kind in ("torch.DataLoader", "torch.DataLoader (iterable)"):
        batches = [dict(batch, cpu_ns=batch["load_ns"] * 8 // 10, read_ns=0, read_bytes=20000)
                   for batch in rundb.simulate(300, 2, 60, 20)]
        rundb.build(path, [rundb.loader(batches, workers=2, kind=kind)], meta={"cpus": "3"})
        with sqlite3.connect(path) as database:
            insert_made(database, batches, 1, 1000)
        text, steps = forms.flat(forms.run(path)), json.loads(t.report("--json", path).out)["advice"]
        gains = {step["id"]: step for step in steps}
        is_iterable = "iterable" in kind
        t.equal(steps[0]["id"], "reduce_cpu_per_batch" if is_iterable else "more_loader_capacity", kind, text)
        t.equal(gains["more_loader_capacity"]["ci95"][0] == 0, is_iterable, kind, gains)
        t.check("bytes are read or unpacked for each byte of a batch: take only the columns" in text, kind, text)


def check_transform(folder):
    """A transform is named where it takes half of the loads, not where it takes less."""
    for share in (0.6, 0.4):
        path = build(os.path.join(folder, "transform.db"), 1 << 20)
        with sqlite3.connect(path) as database:
            database.execute("INSERT INTO t_total SELECT 'step', 'ElasticTransform', 'torchvision', 0, COUNT(*),"
                             " SUM(load_ns) * ?, 0, 0, 1000, 0 FROM t_batch", (share,))
        check(share, path, "reduce_cpu_per_batch")
        t.equal("ElasticTransform takes 60 % of a load: choose a cheaper setting" in forms.flat(forms.run(path)),
                share == 0.6, share)


def check_threads(folder):
    """Loads wait for threads of their worker, which work (a tokenizer), or wait for a server, too."""
    for name, milli in (("working", 1000), ("waiting", 150)):
        path = build(os.path.join(folder, name + ".db"), 1 << 20, asked=0.9)
        with sqlite3.connect(path) as database:
            database.execute("INSERT INTO t_total SELECT 'wait', '', 'thread', 0, COUNT(*), SUM(blocked_ns), 0, 0, 1000, 0"
                             " FROM t_batch")
            rundb.insert(database, "t_process", {"pid": 43, "start_ticks": 1, "role": "worker", "worker_id": 0, "loader_id": 1})
            rundb.insert(database, "t_use", {"pid": 43, "start_ticks": 1, "runnable_milli": milli, "cores_allowed": 8})
        check(name, path, "more_loader_capacity")
        t.equal("These hardly run, so they wait, too." in forms.flat(forms.run(path)), name == "waiting", name)
        t.equal("no gain if what loads wait for is shared" in forms.flat(forms.run(path)), name == "waiting", name, "range")


def check_now_and_then(folder):
    """Loads that are long now and then open shards, or do at once what can be done bit by bit, if the cores allow."""
    for reads in (0.5, 0.01):
        path, batches = os.path.join(folder, "long.db"), rundb.simulate(600, 2, lambda i: 900 if i % 40 == 0 else 5, 20)
        for batch in batches:
            batch.update(cpu_ns=batch["load_ns"], open_ns=int(batch["load_ns"] * reads), read_ns=0)
        time_ns, load_ns = sum(batch["wait_ns"] + 20 * rundb.MS for batch in batches), sum(b["load_ns"] for b in batches)
        rundb.build(path, [rundb.loader(batches, workers=2)],
                    meta={"cpus": "2", "main_cpu_ns": str(time_ns // 2), "main_cpu_of_ns": str(time_ns)})
        step = check(reads, path, "smooth_shard_opening", "1. Open the next shard" if reads > 0.1 else "1. Spread the long load's work")
        most = 2 * time_ns / (load_ns + time_ns / 2)
        t.check(abs(1 + step["gain"] - most) < 0.03 * most, "as much as two cores allow", step, most)


def check_trainer(folder):
    """The option of Hugging Face's Trainer is named only where the Trainer runs the loop."""
    for name, file in (("trainer", "/lib/python3/site-packages/transformers/trainer.py"), ("own", "/home/me/train.py")):
        path = os.path.join(folder, name + ".db")
        rundb.build(path, [rundb.loader(rundb.simulate(300, 2, 60, 20), workers=2)], meta={"cpus": "8"},
                    lines=[("main", 1, "before", [(file, "train", 20)], 100)])
        check(name, path, "more_loader_capacity")
        t.equal("a Trainer's is dataloader_num_workers" in forms.flat(forms.run(path)), name == "trainer", name)


def check_turns(folder):
    """Workers that wait in turns for one pipe wait for what fills it, and not for the lock that orders them."""
    for pipe in (0.45, 0.3):
        path = build(os.path.join(folder, "turns.db"), 1 << 20, asked=0.5 + pipe)
        with sqlite3.connect(path) as database:
            for kind, share in (("lock", 0.5), ("pipe", pipe)):
                database.execute("INSERT INTO t_total SELECT 'wait', '', ?, 0, COUNT(*), CAST(SUM(load_ns) * ? AS INTEGER),"
                                 " 0, 0, 1000, 0 FROM t_batch", (kind, share))
        if pipe > 0.4:
            check("turns", path, "without_helper", "1. Fill that queue faster, or do in the workers what its other end does",
                  ["shorten_lock", "more_loader_capacity"])
            t.check("take turns at one queue or pipe" in forms.flat(forms.run(path)), "the cause")
        else:
            check("a lock", path, "shorten_lock", unwanted=["without_helper"])


def check_other_end(folder):
    """Loads wait for a program by a pipe: it computes for them, or hardly does and only waits, too."""
    for cores in (0.9, 0.1):
        path = build(os.path.join(folder, "piped.db"), 1 << 20, asked=0.9)
        with sqlite3.connect(path) as database:
            database.execute("INSERT INTO t_total SELECT 'wait', '', 'pipe', 0, COUNT(*), CAST(SUM(load_ns) * 0.9 AS INTEGER),"
                             " 0, 0, 1000, 0 FROM t_batch")
            database.executemany("INSERT INTO t_meta VALUES (?, ?)", [
                ("children_cpu_ns", int(cores * 1e9)), ("children_cpu_of_ns", 10**9), ("helper_wanted_ns", 0),
                ("main_cpu_ns", 10**9), ("main_cpu_of_ns", 10**9), ("other_cpu_ns", 0), ("other_cpu_of_ns", 10**9)])
        check(cores, path, "without_helper", "1. Begin earlier what the loads wait for" if cores < 0.2 else
              "1. Do in the workers what another process does")


def check_connecting(folder):
    """A function of a library that connects anew for each call is named, and what keeps the connection."""
    own = ("/home/me/train.py", "Web.__getitem__", 33)
    for phase, number, file, words in (
            ("load", 1, "/usr/lib/python3/site-packages/requests/api.py", "requests.get() connects anew: keep a"),
            ("load", 1, "/usr/lib/python3/site-packages/requests/sessions.py", ""),
            ("load", 2, "/usr/lib/python3/site-packages/requests/api.py", ""),
            ("step", 1, "/usr/lib/python3/site-packages/requests/api.py", "")):
        path, batches = os.path.join(folder, "web.db"), rundb.simulate(300, 2, 120, 20)
        for batch in batches:
            batch.update(blocked_ns=int(batch["load_ns"] * 0.9), cpu_ns=batch["load_ns"] // 20, read_ns=0)
        rundb.build(path, [rundb.loader(batches, workers=2, batch_size=SAMPLES)], meta={"schema": "10", "cpus": "8"},
                    lines=[("worker" if phase == "load" else "main", number, phase, [(file, "get", 73), own], 900),
                           ("worker", 1, "load", [own], 100)])
        with sqlite3.connect(path) as database:
            database.execute("INSERT INTO t_total SELECT 'wait', '10.0.0.7:80', 'socket', 0, COUNT(*),"
                             " CAST(SUM(load_ns) * 0.9 AS INTEGER), 1, 0, 1000, 0 FROM t_batch")
        check(file, path, "fewer_requests", words)
        t.equal("requests.Session()" in forms.flat(forms.run(path)), bool(words), phase, file)


def check_fixed(folder):
    """Transforms without randomness can be applied once, whichever line of code calls them."""
    for second in ("Normalize", "RandomCrop"):
        path = build(os.path.join(folder, "fixed.db"), 1 << 20)
        with sqlite3.connect(path) as database:
            for name, share in (("ToTensor", 0.4), (second, 0.3)):
                database.execute("INSERT INTO t_total SELECT 'step', ?, 'transform', 0, COUNT(*),"
                                 " CAST(SUM(load_ns) * ? AS INTEGER), 0, 0, 1000, 0 FROM t_batch", (name, share))
        step = check(second, path, "reduce_cpu_per_batch")
        text, fixed = forms.flat(forms.run(path)), second == "Normalize"
        t.equal("half the CPU, or less" in text, fixed, second, text)
        t.equal("Transforms take 70 % of a load, and none is random (ToTensor, Normalize)" in text, fixed, second, text)
        t.equal(step["ci95"][1] > 2, fixed, second, step)


def check_growth(folder):
    """Loads that grow and read ever more of a file need not read it from the start."""
    for again in (40, 0):
        path = build(os.path.join(folder, "growing.db"), 1 << 14, again=again, file="/data/rows.db" if again else "",
                     load_ms=lambda number: 30 + number)
        check(again, path, "stop_growth", "does each load read on from the start?" if again else "lists that are searched")
        t.equal("40 bytes are read for each byte of a batch" in forms.flat(forms.run(path)), again == 40, again)


def check_asleep(folder):
    """Loads that sleep while sockets bring most of a batch may sleep until it has come."""
    for share in (0.8, 0.2):
        path = build(os.path.join(folder, "asleep.db"), 1 << 20, asked=0.9)
        with sqlite3.connect(path) as database:
            for kind, ns, count in (("asleep", 0.9, 0), ("socket", 0.01, int(share * (1 << 20)))):
                database.execute("INSERT INTO t_total SELECT 'wait', '', ?, 0, COUNT(*), CAST(SUM(load_ns) * ? AS INTEGER),"
                                 " COUNT(*) * ?, 0, 1000, 0 FROM t_batch", (kind, ns, count))
        text = forms.flat(forms.run(path))
        t.check("A load is asleep in 89 % of its time." in text, share, text)
        t.equal("Meanwhile 0.8 bytes come from sockets for each byte of a batch" in text, share == 0.8, share, text)


def check_small_pieces(folder):
    """A pipe that is read byte by byte takes the loads' CPU time, which is no waiting; copying large pieces does, too."""
    for megabytes in (45, 45000):
        path = build(os.path.join(folder, "pieces.db"), 8192, asked=0.65)
        with sqlite3.connect(path) as database:
            database.execute("UPDATE t_batch SET cpu_ns = load_ns * 71 / 100")
            database.execute("INSERT INTO t_total SELECT 'wait', 'pipe', 'pipe', 0, COUNT(*), SUM(load_ns) * 65 / 100,"
                             " ?, 0, 1000, 0 FROM t_batch", (megabytes * 10**6,))
        check(megabytes, path, None, "pipes 29 %", ["without_helper"])
        text = forms.flat(forms.run(path))
        t.check("calls on pipes 36 %" in text and "A load waits" not in text, megabytes, text)
        blocked = re.search(r"\n +blocked .*? 29 %", forms.run(path, "-v"))
        t.check(blocked, megabytes, "blocked without the CPU time of calls", forms.run(path, "-v"))
        t.equal("Many short calls on pipes or sockets take 36 % of a load: read larger pieces" in text, megabytes == 45,
                megabytes, text)


def check_own_processes(folder):
    """Processes that loads start use cores; workers may not start any."""
    found = []
    for cores in (0.9, 0):
        path = os.path.join(folder, "pool.db")
        batches = rundb.simulate(300, 0, 120, 20)
        for batch in batches:
            batch.update(cpu_ns=batch["load_ns"] // 5, blocked_ns=batch["load_ns"] * 3 // 4)
        rundb.build(path, [rundb.loader(batches, workers=0, batch_size=SAMPLES)], meta={
            "schema": "10", "cpus": "2", "children_cpu_ns": str(int(cores * 1e9)), "children_cpu_of_ns": str(10**9),
            "other_cpu_ns": "0", "other_cpu_of_ns": str(10**9), "main_cpu_ns": str(10**9 // 4), "main_cpu_of_ns": str(10**9)})
        step = check(cores, path, "use_workers")
        text = forms.flat(forms.run(path))
        t.equal("A worker cannot start processes by multiprocessing (Pool)" in text, cores > 0, cores, text)
        found.append(step["gain"])
    t.check(found[0] < found[1], "the processes' cores limit what workers bring", found)


def check_asked(folder):
    """A server that sends next to nothing, while files are read, is asked for no data."""
    for read, words in ((1, "1. Ask the server once, and keep the answers, or once a batch"), (0, "1. Ask for more at a time")):
        path = build(os.path.join(folder, "asked.db"), 1 << 20, asked=0.9, peer="10.0.0.1:80")
        with sqlite3.connect(path) as database:
            database.execute("UPDATE t_batch SET read_bytes = ?", (read << 20,))
        check(read, path, "fewer_requests", words)
        t.equal("HF_HUB_OFFLINE=1" in forms.flat(forms.run(path)), read == 1, read)


def check_beside(folder):
    """Two loaders of one step: more workers for one of them gain no more than the other can load."""
    for load_ms in (25, 10):
        path, first = os.path.join(folder, "beside.db"), rundb.simulate(400, 2, 60, 20)
        got = [batch["begin_ns"] + batch["wait_ns"] for batch in first]
        got.append(got[-1] + first[-1]["compute_ns"])
        wait_ns = rundb.MS // 10
        beside = [dict(batch, begin_ns=got[i], wait_ns=wait_ns, receive_ns=wait_ns, step_ns=got[i + 1] - got[i],
                       compute_ns=batch["compute_ns"] - wait_ns, worker_id=0, pid=200, load_ns=load_ms * rundb.MS,
                       load_begin_ns=got[i] - 40 * rundb.MS, ready_ns=5 * rundb.MS, head_ready=1)
                  for i, batch in enumerate(first)]
        rundb.build(path, [rundb.loader([dict(batch, compute_ns=batch["compute_ns"] - wait_ns) for batch in first], workers=2),
                           rundb.loader(beside, workers=1)], meta={"cpus": "16"})
        gain = check(load_ms, path, "more_loader_capacity")["gain"]
        most = (got[-1] - first[0]["begin_ns"]) / (len(first) * load_ms * rundb.MS) - 1
        t.check(abs(gain - most) < 0.02 if load_ms == 25 else 0.4 < gain < most, load_ms, gain, most)


def check_reopened(folder):
    """Each sample makes a reader of one file: a table is parsed anew, another file is opened anew."""
    own, reader = ("/home/me/train.py", "Rows.__getitem__", 20), ("/usr/lib/python3/site-packages/x/io.py", "Reader.__init__", 9)
    for name, words in (("sensors.csv", "Parse sensors.csv once in each worker and keep the result: each sample parses it"),
                        ("waves.h5", "Open waves.h5 once in each worker and keep it: each sample opens it anew")):
        path, batches = os.path.join(folder, name + ".db"), rundb.simulate(300, 2, 120, 20)
        for batch in batches:
            batch.update(cpu_ns=batch["load_ns"], open_count=SAMPLES, open_ns=1000, read_ns=0)
        rundb.build(path, [rundb.loader(batches, workers=2, batch_size=SAMPLES)], meta={"schema": "10", "cpus": "2"},
                    lines=[("worker", 1, "load", [reader, own], 700), ("worker", 1, "load", [own], 300)])
        with sqlite3.connect(path) as database:
            database.execute("INSERT INTO t_total VALUES ('file', ?, '', 0, ?, 1000, 1000, 0, 1000, 0)",
                             ("/data/" + name, 300 * SAMPLES))
            insert_made(database, batches, 1, 1 << 20)
        check(name, path, "keep_open", words)
        t.equal("numpy.save" in forms.flat(forms.run(path)), name == "sensors.csv", name, "how")


def check_compiling(folder):
    """A model that is compiled in most steps, in the first ones, and never."""
    own, path = ("/home/me/train.py", "<module>", 20), os.path.join(folder, "compiled.db")
    inside = ("/usr/lib/python3/site-packages/torch/_dynamo/symbolic_convert.py", "run", 10)
    running = ("/usr/lib/python3/site-packages/torch/_dynamo/eval_frame.py", "_fn", 10)
    for name, frame, step, wanted in (("again", inside, 150, True), ("at first", inside, lambda i: 2000 if i < 6 else 30, False),
                                      ("never", running, 150, False)):
        rundb.build(path, [rundb.loader(rundb.simulate(80, 2, 5, step), workers=2)],
                    lines=[("main", 1, "before", [frame, own], 400),
                           ("main", 1, "before", [("/home/me/train.py", "<module>", 30)], 100)])
        check(name, path, "cheaper_step")
        t.equal("torch.compile() compiles in 80 % of the time" in forms.flat(forms.run(path)), wanted, name)
    for ranks in (1, 2):
        rundb.build(path, [rundb.loader(rundb.simulate(80, 2, 5, 150), workers=2)], meta={"world_size": str(ranks)},
                    lines=[("main", 1, "before", [own], 400),
                           ("main", 1, "before", [("/home/me/train.py", "<module>", 30)], 100)])
        check("ranks", path, "cheaper_step")
        t.equal("dlprof-report of the job's folder compares all 2." in forms.flat(forms.run(path)), ranks == 2, ranks)


def check_without_workers(folder):
    """A load takes 10 ms, and receiving a finished batch 30 ms: without workers the training waits for 6.5 ms."""
    size = SAMPLES * 224 * 224 * 3
    step = check("no workers", build(os.path.join(folder, "none.db"), size, load_ms=10, delivery_ms=30), "use_no_workers",
                 "A batch takes 10.0 ms to load, and receiving it from a worker makes the training wait 29.9 ms.")
    t.check(abs(step["gain"] - (50 / 26.5 - 1)) < 0.02, "no workers", "the gain", step)
    check("longer loads", build(os.path.join(folder, "some.db"), size, load_ms=35, delivery_ms=30), None,
          unwanted=["use_no_workers"])


def check_waiting_decoder(folder):
    """zarr's calls take 95 % of the loads. Its threads decode (CPU 90 %), or hardly run: they wait for a server."""
    for name, milli in (("decodes", 900), ("asks", 200)):
        path = build(os.path.join(folder, name + ".db"), 1 << 20, decode=0.95, images=1, decoder=("zarr", "chunks", 0))
        with sqlite3.connect(path) as database:
            database.execute("UPDATE t_batch SET cpu_ns = load_ns * ? / 1000", (min(milli, 50),))
            database.execute("INSERT INTO t_total SELECT 'wait', '', 'thread', 0, 1, 1000, COUNT(*) * 2000000, 0, 1000, 0"
                             " FROM t_batch")
            rundb.insert(database, "t_process", {"pid": 43, "start_ticks": 1, "role": "worker", "worker_id": 0, "loader_id": 1})
            rundb.insert(database, "t_use", {"pid": 43, "start_ticks": 1, "runnable_milli": milli, "cores_allowed": 8})
        check(name, path, "fewer_requests" if name == "asks" else "", unwanted=["decode_bound"] if name == "asks" else ["fewer_requests"])
        text = forms.flat(forms.run(path))
        t.equal("waiting for other threads in 75 % of its time. These hardly run" in text, name == "asks", name, text)
        t.check("Load 120 ms: zarr 95 %" in text, name, text)


def check_inner(folder):
    """The loads of a loader without workers take their batches from another loader, all of them or a few."""
    for count in (200, 10):
        outer, inner = rundb.simulate(200, 0, 50, 20), rundb.simulate(count, 2, 80, 10)
        path = rundb.build(os.path.join(folder, "inner.db"),
                           [rundb.loader(outer, workers=0), rundb.loader(inner, workers=2, loader_id=2, place="queue.py:7")])
        with sqlite3.connect(path) as database:
            database.execute("UPDATE t_epoch SET nested = loader_id - 1")
        t.check("Load 50.0 ms; of all loaders: " in forms.flat(t.report("--loader", "1", path).out), count)
        found = json.loads(t.report("--json", "--loader", "1", path).out)
        t.equal(found["cause"], "inner_loader" if count == 200 else "single_process", count)
        if count == 200:
            t.equal([step["id"] for step in found["advice"]], ["see_inner_loader"], count)
            t.check("Loader 2 (queue.py:7) loads for it: --loader 2 says why that is slow." in
                    forms.flat(t.report("--loader", "1", path).out), count)


def check_left_early(folder):
    """Eight epochs of 25 batches end by a break: of each batch that is taken, three are loaded, or one."""
    for name, lost in (("lost", 400), ("used", 0)):
        path = build(os.path.join(folder, name + ".db"), 48000, count=25, epochs=8, load_ms=lambda i: 800 if i < 2 else 5,
                     persistent=1)
        with sqlite3.connect(path) as database:
            columns = [row[1] for row in database.execute("PRAGMA table_info(t_batch)")]
            taken = ", ".join("task + 10000" if column == "task" else "NULL" if column == "batch" else column
                              for column in columns)
            for _ in range(lost // 200):
                database.execute(f"INSERT INTO t_batch SELECT {taken} FROM t_batch WHERE batch NOT NULL")
                taken = taken.replace("10000", "20000")
        step = check(name, path, "cheaper_starts",
                     "1. Keep one iterator for all epochs, or load less far ahead" if lost else "1. Make epochs longer")
        text = forms.flat(forms.run(path))
        t.equal("3 batches are loaded for each one that is taken" in text, lost > 0, name, text)
        t.check(step["at_most"], name, step)


def check_device(folder):
    """Arrays are read for half of the loads' time: more workers share the device, but not what memory holds."""
    for name, stored in (("device", 1), ("memory", 0)):
        path = build(os.path.join(folder, name + ".db"), 1 << 20, again=20, file="/data/000.npy", load_ms=60)
        with sqlite3.connect(path) as database:
            database.execute("UPDATE t_batch SET storage_bytes = read_bytes * ?", (stored,))
            database.execute("UPDATE t_meta SET value = 8 WHERE key = 'cpus'")
        advice = {step["id"]: step for step in json.loads(t.report("--json", path).out)["advice"]}
        t.check("Store smaller types (int16, uint8, float16)" in advice["read_less"]["how"], name, advice)
        more = advice["more_loader_capacity"]
        t.equal((more["ci95"][0] < 0.01, "no gain if what loads wait for is shared" in more["how"]), (stored > 0,) * 2, name, more)


def main():
    for each in (check_pixels, check_media, check_database, check_split, check_drawn, check_firsts, check_starts, check_around, check_bursts, check_manager, check_slow,
                 check_bytes, check_made_again, check_sampler, check_idle, check_anew, check_shards, check_transform, check_threads, check_turns, check_now_and_then,
                 check_trainer, check_other_end, check_connecting, check_fixed, check_growth, check_asleep, check_asked,
                 check_beside, check_reopened, check_compiling, check_without_workers,
                 check_waiting_decoder, check_inner, check_left_early, check_device, check_small_pieces,
                 check_own_processes):
        each(t.scratch())
    t.finish()


main()
