# SPDX-License-Identifier: Apache-2.0
"""Begins and ends threads, as many as it can."""
import threading
import time


def rest():
    time.sleep(0.001)


print("{}", flush=True)
while True:
    threads = [threading.Thread(target=rest) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
