# SPDX-License-Identifier: Apache-2.0
"""An exception that a signal handler raises in a dataset's __len__ reaches the program, whoever called __len__."""
import os
import signal

from torch.utils.data import DataLoader


class Alarm(Exception):
    pass


class Alarming:
    calls = hit = 0

    def __len__(self):
        Alarming.calls += 1
        if Alarming.calls == Alarming.hit:
            os.kill(os.getpid(), signal.SIGUSR1)
        return 4

    def __getitem__(self, index):
        return index


class Endless(Alarming):
    def __len__(self):
        raise TypeError("endless")


def ring(number, frame):
    raise Alarm


def train(dataset):
    try:
        loader = DataLoader(dataset, batch_size=2)
        return [batch.tolist() for _ in range(2) for batch in loader]
    except (Alarm, TypeError) as error:
        return repr(error)


signal.signal(signal.SIGUSR1, ring)
Alarming.hit = 1  # at the first call of __len__: by dlprof's recorder, without dlprof by the sampler
print(train(Alarming()))
print(train(Endless()))
print("end")
