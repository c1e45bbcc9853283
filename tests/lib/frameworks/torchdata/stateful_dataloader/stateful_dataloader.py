# SPDX-License-Identifier: Apache-2.0
import torch.multiprocessing as multiprocessing
from torch.utils.data import DataLoader
from torch.utils.data.dataloader import _BaseDataLoaderIter, _SingleProcessDataLoaderIter
from .worker import _worker_loop
class _StatefulSingleProcessDataLoaderIter(_SingleProcessDataLoaderIter):
    _sampler_iter_yielded = 0
    def __init__(self, loader, next_iter_state=None):
        super().__init__(loader)
        for _ in range(next_iter_state or 0):
            next(self)
    def __next__(self):
        return super().__next__()
class _StatefulMultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    _sampler_iter_yielded = 0
    def __init__(self, loader, next_iter_state=None):
        super().__init__(loader)
        context = loader.multiprocessing_context or multiprocessing
        self._prefetch_factor = loader.prefetch_factor
        self._worker_result_queue = context.Queue()
        self._index_queues, self._workers, self._task_info = [], [], {}
        self._send_idx = self._rcvd_idx = 0
        for i in range(self._num_workers):
            queue = context.Queue()
            worker = context.Process(target=_worker_loop, daemon=True, args=(
                self._dataset, queue, self._worker_result_queue, self._collate_fn, i))
            worker.start()
            self._index_queues.append(queue)
            self._workers.append(worker)
        for _ in range(2 * self._num_workers):
            self._try_put_index()
        for _ in range(next_iter_state or 0):
            next(self)
    def __next__(self):
        return super().__next__()
    def _try_put_index(self):
        try:
            index = self._next_index()
        except StopIteration:
            return
        self._index_queues[self._send_idx % self._num_workers].put((self._send_idx, (index, False)))
        self._send_idx += 1
    def _try_get_data(self, timeout=60):
        return True, self._worker_result_queue.get(timeout=timeout)
    def _next_data(self):
        if self._rcvd_idx == self._send_idx:
            for queue, worker in zip(self._index_queues, self._workers):
                queue.put(None)
                worker.join()
            raise StopIteration
        while self._rcvd_idx not in self._task_info:
            _, (number, data) = self._try_get_data()
            self._task_info[number] = data
        data, worker, state = self._task_info.pop(self._rcvd_idx)
        self._rcvd_idx += 1
        self._try_put_index()
        return data
class StatefulDataLoader(DataLoader):
    made = state = None
    def _get_iterator(self):
        state, self.state = self.state, None
        if self.num_workers:
            return _StatefulMultiProcessingDataLoaderIter(self, state)
        return _StatefulSingleProcessDataLoaderIter(self, state)
    def __iter__(self):
        made, self.made = self.made, None
        return made or self._get_iterator()
    def state_dict(self):                   # a part of the state is in the workers
        self.made = self._get_iterator()
    def load_state_dict(self, state):
        self.state = state
