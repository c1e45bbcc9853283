# SPDX-License-Identifier: Apache-2.0
"""CPU time of what a training starts and that does not record: a helper process that computes for all
workers, and programs that each load starts and waits for. Compared with what these say themselves.

usage: helper_cpu.py helper|programs BATCHES: the training; without, the test, which runs both.
"""
import multiprocessing
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402

# Looks take one part in 2000 of the time: on a busy machine the second of all processes is late.
BATCHES = (200, 800)
COMPUTE_S = 0.02
SPIN = """
import time
while time.process_time() < {}:
    pass
print(time.process_time())
""".format(COMPUTE_S)


def serve(requests, answers):
    while True:
        who = requests.get()
        end = time.process_time() + COMPUTE_S
        while time.process_time() < end:
            pass
        answers[who].put(time.process_time())


def training(kind, batches):
    from torch.utils.data import DataLoader, Dataset, get_worker_info

    requests, answers = multiprocessing.Queue(), [multiprocessing.Queue() for _ in range(2)]
    if kind == "helper":
        multiprocessing.Process(target=serve, args=(requests, answers), daemon=True).start()

    class Asking(Dataset):
        def __len__(self):
            return batches

        def __getitem__(self, index):
            if kind == "programs":
                return float(subprocess.check_output([sys.executable, "-S", "-c", SPIN]))
            requests.put(get_worker_info().id)
            return answers[get_worker_info().id].get()

    loader = DataLoader(Asking(), num_workers=2, multiprocessing_context="fork")
    used = [float(batch) for batch in loader]
    print(max(used) if kind == "helper" else sum(used))


def measure(kind, batches, key, of_key):
    """Nanoseconds in the database, in the program's own words for the same time, and at most."""
    database = os.path.join(t.scratch(), kind + ".db")
    done = t.run([t.PYTHON, os.path.abspath(__file__), kind, str(batches)],
                 env=t.environment(DLPROF_OUT=database, DLPROF_QUIET="1"))
    t.equal(done.status, 0, kind, done.err)
    t.wait_for_drain(database)
    found = {row["key"]: float(row["value"]) for row in t.rows(database, "SELECT * FROM meta")
             if row["key"] in (key, of_key)}
    loads, = t.rows(database, "SELECT SUM(load_ns) AS ns, MAX(begin_ns + load_ns)"
                    " - MIN(begin_ns) AS all_ns FROM load")
    # The looks cover a part of the run only.
    part = found.get(of_key, 0) / (loads["all_ns"] if kind == "helper" else loads["ns"])
    truth = float(done.out) * 1e9 * part
    # A helper also counts while it has no core.
    most = loads["all_ns"] if kind == "helper" else 1.5 * truth
    t.say(kind, found, "the program itself", truth)
    return found.get(key, 0), truth, most + 1e8


def check(kind, key, of_key):
    for batches in BATCHES:
        used, truth, most = measure(kind, batches, key, of_key)
        if truth > 1e9 and used >= 0.5 * truth:
            break
    t.check(0 < 0.5 * truth <= used <= most, kind, "used", used, "of", truth, "to", most)


def main():
    t.need_shim()
    t.need_torch()
    check("helper", "helper_wanted_ns", "main_cpu_of_ns")
    check("helper", "helpers_cpu_ns", "main_cpu_of_ns")
    check("programs", "children_cpu_ns", "children_cpu_of_ns")
    t.finish()


if len(sys.argv) > 1:
    training(sys.argv[1], int(sys.argv[2]))
else:
    main()
