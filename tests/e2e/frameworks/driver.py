# SPDX-License-Identifier: Apache-2.0
"""What the programs begin with: drain(take) asks until StopIteration and prints each wait."""
import time
import traceback


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def drain(take, limit=10**9):
    count = 0
    while count < limit:
        begin = now()
        try:
            take()
        except StopIteration:
            break
        except ValueError:
            print("raised", traceback.format_exc())
            continue
        print("WAIT", begin, now(), flush=True)
        time.sleep(0.001)
        count += 1
    print("epoch of", count)
