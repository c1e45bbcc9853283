# SPDX-License-Identifier: Apache-2.0
from nvidia.dali.types import PipelineAPIType
class _DaliBaseIterator:
    def __init__(self, pipelines):
        self._pipes = pipelines
        for pipe in pipelines:
            pipe.used_as(PipelineAPIType.ITERATOR)
    def __iter__(self):
        return self
    def next(self):
        return self.__next__()
    def _next_impl(self):
        if self._first_batch is not None:
            batch, self._first_batch = self._first_batch, None
            return batch
        return {"x": [pipe.share_outputs() for pipe in self._pipes]}
    def drop_last(self):                    # does the same as reset()
        self._next_impl()
class OldIterator(_DaliBaseIterator):
    def _next_impl(self):
        if self._first_batch is not None:
            return super()._next_impl()
        return {"x": [pipe.run() for pipe in self._pipes]}
