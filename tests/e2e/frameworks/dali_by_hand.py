# SPDX-License-Identifier: Apache-2.0
# DALI: [[8, 8], [8, 8], [4]]
from driver import drain

from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin import pytorch
def by_hand(ask):
    def take():
        pipe.schedule_run()
        ask()
        pipe.release_outputs()
    return take
for ask in "share_outputs", "outputs":
    pipe = Pipeline(8)
    for _ in range(2): drain(by_hand(getattr(pipe, ask)))
it = pytorch.DALIGenericIterator([Pipeline(5)])
it.drop_last(); it.drop_last()
drain(it.__next__)
import threading
server = threading.Thread(target=lambda: print(Pipeline(3).outputs()))
server.start(); server.join()
