# SPDX-License-Identifier: Apache-2.0
from nvidia.dali.plugin.base_iterator import _DaliBaseIterator
class DALIGenericIterator(_DaliBaseIterator):
    def __init__(self, pipelines, prepare_first_batch=True):
        super().__init__(pipelines)
        self._first_batch = None
        if prepare_first_batch:
            self._first_batch = DALIGenericIterator.__next__(self)
    def __next__(self):
        return self._next_impl()

class DALIRaggedIterator(_DaliBaseIterator):
    def __init__(self, pipelines, prepare_first_batch=True):
        super().__init__(pipelines)
        self._first_batch = None
        if prepare_first_batch:
            self._first_batch = DALIRaggedIterator.__next__(self)
    def __next__(self):
        return self._next_impl()
