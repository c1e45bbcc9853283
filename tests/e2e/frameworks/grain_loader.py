# SPDX-License-Identifier: Apache-2.0
# grain: [[10, 10], [10], [10]]
from driver import drain

from grain._src.python.data_loader import DataLoader
loader = DataLoader(40)
for _ in range(2): drain(iter(loader).__next__)
from grain._src.python.dataset.dataset import Batch, Prefetch, Source
drain(iter(Batch(Source(40), 4)).__next__)
drain(iter(Prefetch(Batch(Source(40), 4))).__next__)
