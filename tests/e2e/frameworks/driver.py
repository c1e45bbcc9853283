# SPDX-License-Identifier: Apache-2.0
"""What the programs begin with: drain(take) asks until StopIteration and prints each wait."""
import time
import traceback


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def drain(take, limit=10**9):
    count = failed = 0                      # a call that raises is part of the next one's wait
    while count < limit:
        begin = now()
        try:
            take()
        except StopIteration:
            break
        except ValueError:
            failed += now() - begin
            print("raised", traceback.format_exc())
            continue
        print("WAIT", begin - failed, now(), flush=True)
        failed = 0
        time.sleep(0.001)
        count += 1
    print("epoch of", count)
