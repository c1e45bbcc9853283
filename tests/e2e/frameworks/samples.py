# SPDX-License-Identifier: Apache-2.0
"""24 samples of a millisecond each, which stay as they are."""
import time


class Samples:
    def __len__(self):
        return 24
    def __getitem__(self, index):
        time.sleep(0.001)
        return index


def keep(samples):
    return samples
