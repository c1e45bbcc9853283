# SPDX-License-Identifier: Apache-2.0
"""torchdata.nodes begins an epoch in iter()."""
from stopwatch import Timed, finish, step
from torchdata.nodes.loader import Loader

loader = Loader(5, reset_s=0.03)
for _ in range(8):
    for _ in Timed(loader):
        step(0.006)
finish(loaders=1, is_opaque=True)
