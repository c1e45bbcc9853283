# SPDX-License-Identifier: Apache-2.0
"""More epochs than iterators are told apart at once."""
from accelerate.data_loader import DataLoaderDispatcher
from driver import drain

loader = DataLoaderDispatcher(range(2))
for _ in range(150):
    drain(iter(loader).__next__, 1)
