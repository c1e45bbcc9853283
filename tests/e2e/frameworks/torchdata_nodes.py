# SPDX-License-Identifier: Apache-2.0
# torchdata.nodes: [[10, 10, 3, 10, 1]]
from driver import drain

from torchdata.nodes.loader import Loader
loader = Loader(10)
for _ in range(2): drain(iter(loader).__next__)
for state in 7, 10:                         # goes on from there; is at its end, and begins anew
    loader.load_state_dict(state); drain(iter(loader).__next__)
it = iter(loader); print(it.has_next(), next(it))
