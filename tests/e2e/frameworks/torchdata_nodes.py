# SPDX-License-Identifier: Apache-2.0
# torchdata.nodes: [[10, 10, 1]]
from driver import drain

from torchdata.nodes.loader import Loader
loader = Loader(10)
for _ in range(2): drain(iter(loader).__next__)
it = iter(loader); print(it.has_next(), next(it))
