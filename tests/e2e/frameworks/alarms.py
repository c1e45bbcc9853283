# SPDX-License-Identifier: Apache-2.0
from tensorflow.python.data.ops.dataset_ops import Dataset

import itertools, signal
class Endless(Dataset):
    def elements(self):
        return itertools.count()
class Alarm(Exception):
    pass
raised = caught = lost = 0
def handler(*_):
    global raised
    raised += 1
    raise Alarm
signal.signal(signal.SIGALRM, handler)
it = iter(Endless(1))
next(it)
while caught + lost < 300:
    before = raised
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0001)
        while raised == before:
            next(it)
        lost += 1
    except Alarm:
        caught += 1
print("lost", lost)
