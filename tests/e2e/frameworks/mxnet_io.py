# SPDX-License-Identifier: Apache-2.0
# mxnet.io: [[9, 9]]
from driver import drain

from mxnet.io.io import NDArrayIter
it = NDArrayIter(9)
for _ in range(2): drain(it.__next__); it.reset()
