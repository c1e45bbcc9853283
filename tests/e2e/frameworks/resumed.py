# SPDX-License-Identifier: Apache-2.0
from driver import drain
from samples import Samples, keep

from torchdata.stateful_dataloader.stateful_dataloader import StatefulDataLoader

for workers in 2, 0:
    loader = StatefulDataLoader(Samples(), batch_size=4, num_workers=workers, collate_fn=keep)
    loader.state_dict()
    drain(iter(loader).__next__)
    loader.load_state_dict(2)
    drain(iter(loader).__next__)
