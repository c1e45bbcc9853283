# SPDX-License-Identifier: Apache-2.0
class JAXEpochIterator:
    def __init__(self, batches):
        self.batches = batches
    def _get_iterator(self):
        return self._one_batch_ahead_iterator(self.batches)
    def _one_batch_ahead_iterator(self, iterator):
        waiting = None
        for batch in iterator:
            if waiting is not None:
                yield waiting
            waiting = batch
        if waiting is not None:
            yield waiting
