# SPDX-License-Identifier: Apache-2.0
# mxnet.gluon: [[12, 12], [7, 7, 1], [9]]
from driver import drain
from samples import Samples, keep

from mxnet.gluon.data.dataloader import BatchSampler, DataLoader, _MultiWorkerIter
for loader in DataLoader(Samples(), 2, batchify_fn=keep), DataLoader(Samples(), 4, last_batch="discard",
                                                                     num_workers=2, batch_sampler=BatchSampler(21, 3)):
    for _ in range(2): drain(iter(loader).__next__)
it = iter(loader); print(next(it), iter(it) is it)
drain(_MultiWorkerIter(loader._worker_pool, keep, BatchSampler(18, 2), prefetch=2).next)
