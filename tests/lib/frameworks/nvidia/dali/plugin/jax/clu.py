# SPDX-License-Identifier: Apache-2.0
from nvidia.dali.plugin.jax.iterator import DALIGenericIterator
class DALIGenericPeekableIterator(DALIGenericIterator):
    def __next__(self):
        return self._next_impl()
