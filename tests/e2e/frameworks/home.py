# SPDX-License-Identifier: Apache-2.0
"""A loader of the user's own."""
import time


def pages():
    yield 1
    yield 2


def read(iterator):
    time.sleep(0.001)
    return next(iterator)
