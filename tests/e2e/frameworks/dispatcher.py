# SPDX-License-Identifier: Apache-2.0
# accelerate: [[9, 4, 9]]
from accelerate.data_loader import DataLoaderDispatcher
from driver import drain

loader = DataLoaderDispatcher(range(9))
for limit in 99, 4, 99: drain(iter(loader).__next__, limit)
