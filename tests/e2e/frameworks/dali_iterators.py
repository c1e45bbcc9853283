# SPDX-License-Identifier: Apache-2.0
# DALI: [[8, 8], [8, 8], [8, 8], [8, 8], [8, 8], [8, 8], [8], [8, 8]]
from driver import drain

from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin import jax, mxnet, paddle, pytorch
from nvidia.dali.plugin.jax import clu, iterator
for Iterator in (pytorch.DALIGenericIterator, pytorch.DALIRaggedIterator,
                 iterator.DALIGenericIterator, clu.DALIGenericPeekableIterator,
                 mxnet.DALIGenericIterator, mxnet.DALIGluonIterator):
    it = Iterator([Pipeline(8), Pipeline(8)])
    for _ in range(2): drain(lambda: next(it)); it._pipes[1].at = 0
    kept = globals().setdefault("kept", []) + [it]
it = paddle.DALIGenericIterator([Pipeline(8)], False)
drain(it.next)
p = Pipeline(8)
for _ in range(2): drain(lambda: p.run())
