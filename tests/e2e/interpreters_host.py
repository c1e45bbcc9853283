# SPDX-License-Identifier: Apache-2.0
"""A training, and the same in interpreters beside the main one. Knows nothing of dlprof.

usage: interpreters_host.py WHEN WORKERS, WHEN one of before, beside, after, only; WORKERS are the main
interpreter's. What each of them came to is a line.
"""
import os
import sys
import textwrap
import threading
import time

sys.path.insert(0, os.environ["TEST_STUB"])
try:
    import _interpreters as interpreters  # 3.13
except ImportError:
    import _xxsubinterpreters as interpreters

TRAINING = textwrap.dedent("""
    import os, sys
    sys.path.insert(0, os.environ["TEST_STUB"])
    from torch.utils.data import DataLoader, Dataset

    class Numbers(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index

    loader = DataLoader(Numbers(), batch_size=2, collate_fn=sum)
    for epoch in range(3):
        os.write(1, "another {}\n".format(list(loader)).encode())
""")


def say(*words):
    """A line at once: interpreters that have a lock each mix what they print."""
    os.write(1, "{}\n".format(" ".join(map(str, words))).encode())


def others():
    """One that shares the interpreter lock and one that has its own, where there are both."""
    for options in ({"isolated": False}, {}):
        try:
            made = interpreters.create(**options)
        except TypeError:  # 3.13 has names for them
            made = interpreters.create("isolated" if not options else "legacy")
        try:
            run = getattr(interpreters, "exec", None) or interpreters.run_string
            failed = run(made, TRAINING)
            say("another ended", failed or "")
        except Exception as error:
            say("another failed", error)
        interpreters.destroy(made)


def main():
    when, workers = sys.argv[1], int(sys.argv[2])
    thread = threading.Thread(target=others)
    if when in ("before", "only"):
        others()
    if when == "only":
        return
    from torch.utils.data import DataLoader, Dataset

    class Numbers(Dataset):
        def __len__(self):
            return 20

        def __getitem__(self, index):
            time.sleep(0.005)
            return index

    loader = DataLoader(Numbers(), batch_size=2, num_workers=workers, collate_fn=sum)
    if when == "beside":
        thread.start()
    say("main", list(loader))
    if when == "beside":
        thread.join()
    if when == "after":
        others()


main()
sys.exit(7)
