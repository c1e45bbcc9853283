# SPDX-License-Identifier: Apache-2.0
from driver import drain
from samples import Samples, keep

from torchdata.stateful_dataloader.stateful_dataloader import StatefulDataLoader
if __name__ == "__main__":
    for workers, start in (0, None), (2, "fork"), (1, "spawn"):
        loader = StatefulDataLoader(Samples(), batch_size=4, num_workers=workers, collate_fn=keep,
                                    multiprocessing_context=start)
        for _ in range(2 if start != "spawn" else 1): drain(iter(loader).__next__)
