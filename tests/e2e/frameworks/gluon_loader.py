# SPDX-License-Identifier: Apache-2.0
# mxnet.gluon: [[12, 12], [7, 7, 1], [9]]
from driver import drain

from mxnet.gluon.data.dataloader import DataLoader, _MultiWorkerIter
for loader in DataLoader(12), DataLoader(7, num_workers=2):
    for _ in range(2): drain(iter(loader).__next__)
it = iter(loader); print(next(it), iter(it) is it)
drain(_MultiWorkerIter(9).next)
