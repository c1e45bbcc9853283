# SPDX-License-Identifier: Apache-2.0
"""Runs with samples of lines of code, each of another kind: which line leads, and for which cause."""
import rundb

MS = rundb.MS
TORCH = "/opt/v/lib/python3.11/site-packages/torch/"
TRAIN = "/home/me/proj/train.py"
LOADER = TORCH + "utils/data/dataloader.py"
NEXT = (LOADER, "_BaseDataLoaderIter.__next__", 630)
FETCH = (TORCH + "utils/data/_utils/fetch.py", "_MapDatasetFetcher.fetch", 54)
SELECT = ("/usr/lib/python3.11/selectors.py", "_PollLikeSelector.select", 415)
RECV = ("/usr/lib/python3.11/multiprocessing/connection.py", "Connection._recv", 378)
MAIN = (TRAIN, "main", 41)
STEP = (TRAIN, "main", 44)
BACKWARD = (TORCH + "_tensor.py", "Tensor.backward", 487)
COLLATE = (TRAIN, "collate", 12)
TENSOR = (TORCH + "_tensor.py", "Tensor.__torch_function__", 1295)
META = {"command": "python3 train.py --epochs 3", "lines": "observed"}


def loads(count=1000, number=1, role="worker"):
    """A run whose collate makes tensors of lists, as in case 22."""
    tail = [NEXT, MAIN] if role == "main" else []
    return [(role, number, "load", [TENSOR, COLLATE, FETCH] + tail, count * 8 // 10),
            (role, number, "load", [(TRAIN, "Pics.__getitem__", 22), FETCH] + tail, count // 10),
            (role, number, "load", [("/opt/v/lib/python3.11/site-packages/PIL/Image.py", "open", 3131), FETCH] + tail,
             count - count * 8 // 10 - count // 10)]


def waits(count=600, phase="not_ready", inner=SELECT):
    return [("main", 1, phase, [inner, NEXT, MAIN], count)]


def steps(count=400):
    return [("main", 1, "step", [BACKWARD, STEP], count * 7 // 10),
            ("main", 1, "step", [(TRAIN, "log", 61), STEP], count - count * 7 // 10)]


def capacity(path, **keywords):
    return rundb.build(path, [rundb.loader(rundb.simulate(400, 4, 60, 10), workers=4)],
                       lines=loads() + waits() + steps(), meta=META, **keywords)


def alone(path):
    return rundb.build(path, [rundb.loader(rundb.simulate(300, 0, 20, 10), workers=0)],
                       lines=loads(role="main") + steps(), meta=META)


def delivery(path):
    """A run whose sampler, in Python, takes time in the training's process."""
    sampler = (("/home/me/proj/data/sampler.py"), "Balanced.__iter__.<locals>.<listcomp>", 27)
    return rundb.build(path, [rundb.loader(rundb.simulate(400, 4, 20, 10, delivery_ms=6), workers=4)],
                       lines=waits(400, "receiving", RECV) + steps() +
                       [("main", 1, "sampling", [sampler, FETCH, NEXT, MAIN], 300)], meta=META)


def held(path):
    """A run in which another thread computes in Python."""
    return rundb.build(path, [rundb.loader(rundb.simulate(400, 4, 20, 10, delivery_ms=6), workers=4)],
                       lines=waits(400, "receiving", RECV) + steps() +
                       [("thread", 1, "receiving", [(TRAIN, "metrics", 15)], 376),
                        ("thread", 1, "step", [(TRAIN, "metrics", 15)], 40)], meta=META)


def fast(path):
    return rundb.build(path, [rundb.loader(rundb.simulate(400, 4, 20, 10), workers=4)],
                       lines=loads(200) + waits(10) + steps(), meta=META)


def pauses(path, save=("/home/me/proj/saving.py", "save", 88), share=0.33):
    """A run that saves in every 20th step."""
    batches = rundb.simulate(400, 4, 20, lambda i: 100 if i % 20 == 19 else 10)
    return rundb.build(path, [rundb.loader(batches, workers=4)],
                       lines=[("main", 1, "step", [BACKWARD, STEP], int(1000 * (1 - share))),
                              ("main", 1, "step", [save, STEP], int(1000 * share))], meta=META)


def few(path):
    return rundb.build(path, [rundb.loader(rundb.simulate(400, 4, 60, 10), workers=4)],
                       lines=loads(10) + waits(12), meta=META)


def refused(path):
    return rundb.build(path, [rundb.loader(rundb.simulate(400, 4, 60, 10), workers=4)],
                       meta=dict(META, lines="not observed: the kernel does not let dlprof read "
                                 "other processes (ptrace_scope 2)"))


def many(path):
    """A run with two files of one name, more lines than are shown, lines too short to show, a library's first."""
    files = ["/home/me/proj/{}/data/read.py".format(name) for name in "ab"]
    stacks = [("worker", 1, "load", [(TORCH + "nn/module.py", "call", 9)], 300)]
    stacks += [("worker", 1, "load", [(files[i % 2], "f{}".format(i), i), FETCH], 60 - i)
               for i in range(1, 9)]
    stacks += [("worker", 1, "load", [(TRAIN, "seldom", 3), FETCH], 15)]
    return rundb.build(path, [rundb.loader(rundb.simulate(400, 4, 60, 10), workers=4)],
                       lines=stacks, meta=dict(META, command="python3 -m proj.train"))


def spread(path):
    """A run with a loop over pixels in Python, of which no line leads."""
    loop = [("worker", 1, "load", [(TRAIN, "augment", 70 + i), FETCH], 210 - i) for i in range(4)]
    return rundb.build(path, [rundb.loader(rundb.simulate(400, 4, 60, 10), workers=4)],
                       lines=loop + loads(150) + waits(), meta=META)


def after(path, function, gap_ms=0, load_ms=20):
    """A run in which one function of the user's takes most of what follows the optimizer, or the epochs."""
    batches = [dict(batch, before_ns=MS, backward_ns=2 * MS, between_ns=0, optimizer_ns=MS, save_ns=0,
                    begin_ns=batch["begin_ns"] + batch["epoch"] * gap_ms * MS,
                    load_begin_ns=batch["load_begin_ns"] + batch["epoch"] * gap_ms * MS)
               for batch in rundb.simulate(100, 4, load_ms, 20, epochs=4)]
    return rundb.build(path, [rundb.loader(batches, workers=4)],
                       lines=[("main", 1, "between_epochs" if gap_ms else "after", [(TRAIN, function, 61), STEP], 300),
                              ("main", 1, "step", [BACKWARD, STEP], 100)], meta=META)


def crowded(path):
    """A run with as much as a screen can have to say, and a line with long names."""
    loads = [dict(batch, cpu_ns=batch["load_ns"])
             for batch in rundb.simulate(400, 4, 100, 13, delivery_ms=1, jitter=0.6)]
    later = [dict(batch, begin_ns=batch["begin_ns"] + 20000 * MS,
                  load_begin_ns=batch["load_begin_ns"] + 20000 * MS)
             for batch in rundb.simulate(40, 2, 20, 10)]
    long = ("/home/me/" + "\u00fc" * 90 + "/x.py", "\u00c9" * 90 + ".load", 12345)
    rundb.build(path, [rundb.loader(loads, workers=4, place="train.py:41 in the_main_function"),
                       rundb.loader(later, workers=2), rundb.loader(later, workers=2)],
                lines=[("worker", 1, "load", [long], 1000)], losses=[1],
                notes=["odd " + "w " * 40, "two"],
                meta=dict(META, cpus="4", other_cpu_ns="1500", other_cpu_of_ns="1000", pid="42",
                          patch_missing="mine.MyLoader:next,a.b:c", neighbours="t 1 1.5 2.0"))
    database = rundb.sqlite3.connect(path)
    database.execute("UPDATE t_process SET exit = 'gone', exit_status = 9, start_ns = 1")
    database.commit()
    database.close()
    return path


RUNS = {"capacity": capacity, "alone": alone, "spread": spread, "delivery": delivery, "held": held, "fast": fast,
        "pauses": pauses, "few": few, "refused": refused, "many": many}
