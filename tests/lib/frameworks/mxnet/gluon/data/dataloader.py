# SPDX-License-Identifier: Apache-2.0
import multiprocessing
import pickle
import signal
from multiprocessing.pool import ThreadPool
_worker_dataset = None
def _worker_initializer(dataset, active_shape, active_array):
    global _worker_dataset
    _worker_dataset = dataset
def _thread_worker_initializer(active_shape, active_array):
    pass
def _worker_fn(samples, batchify_fn, dataset=None):
    return pickle.dumps(batchify_fn([_worker_dataset[i] for i in samples]))
def _thread_worker_fn(samples, batchify_fn, dataset):
    return batchify_fn([dataset[i] for i in samples])
class BatchSampler:
    def __init__(self, count, batch_size):
        self._count, self._batch_size = count, batch_size
    def __iter__(self):
        for first in range(0, self._count, self._batch_size):
            yield list(range(first, min(first + self._batch_size, self._count)))
class _MultiWorkerIter:                     # requests one more batch from the pool, then waits
    def __init__(self, worker_pool, batchify_fn, batch_sampler, pin_memory=False, pin_device_id=0,
                 worker_fn=_worker_fn, prefetch=0, dataset=None, data_loader=None, timeout=120):
        self._worker_pool, self._batchify_fn, self._worker_fn = worker_pool, batchify_fn, worker_fn
        self._batch_sampler, self._iter = batch_sampler, iter(batch_sampler)
        self._dataset, self._data_loader, self._timeout = dataset, data_loader, timeout
        self._data_buffer, self._rcvd_idx, self._sent_idx = {}, 0, 0
        for _ in range(prefetch):
            self._push_next()
    def _push_next(self):
        samples = next(self._iter, None)
        if samples is not None:
            job = self._worker_pool.apply_async(self._worker_fn, (samples, self._batchify_fn, self._dataset))
            self._data_buffer[self._sent_idx] = job
            self._sent_idx += 1
    def __iter__(self):
        return self
    def next(self):
        return self.__next__()
    def __next__(self):
        self._push_next()
        if self._rcvd_idx == self._sent_idx:
            raise StopIteration
        batch = self._data_buffer.pop(self._rcvd_idx).get(self._timeout)
        self._rcvd_idx += 1
        return pickle.loads(batch) if self._dataset is None else batch
class DataLoader:
    def __init__(self, dataset, batch_size=None, shuffle=False, sampler=None, last_batch=None, batch_sampler=None,
                 batchify_fn=list, num_workers=0, pin_memory=False, pin_device_id=0, prefetch=None,
                 thread_pool=False, timeout=120, auto_reload=False):
        self._dataset, self._thread_pool, self._timeout = dataset, thread_pool, timeout
        self._batch_sampler = batch_sampler or BatchSampler(len(dataset), batch_size)
        self._batchify_fn, self._num_workers, self._worker_pool = batchify_fn, num_workers, None
        self._prefetch = 2 * num_workers if prefetch is None else prefetch
        if num_workers and thread_pool:
            self._worker_pool = ThreadPool(num_workers, initializer=_thread_worker_initializer,
                                           initargs=(False, False))
        elif num_workers:
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
            self._worker_pool = multiprocessing.get_context("fork").Pool(
                num_workers, initializer=_worker_initializer, initargs=[dataset, False, False])
            signal.signal(signal.SIGINT, before)
        self.auto_reload, self._iter = auto_reload, None
        if auto_reload:
            self.refresh()
    def refresh(self):
        self._iter = self._prefetch_iter()
    def _prefetch_iter(self):
        if self._num_workers == 0:
            def same_process_iter():
                for samples in self._batch_sampler:
                    yield self._batchify_fn([self._dataset[i] for i in samples])
            return same_process_iter()
        return _MultiWorkerIter(self._worker_pool, self._batchify_fn, self._batch_sampler,
                                worker_fn=_thread_worker_fn if self._thread_pool else _worker_fn,
                                prefetch=self._prefetch, dataset=self._dataset if self._thread_pool else None,
                                data_loader=self, timeout=self._timeout)
    def __iter__(self):
        if self._iter is None:
            self.refresh()
        items, self._iter = self._iter, None
        for item in items:
            yield item
        if self._iter is None and self.auto_reload:
            self.refresh()
    def __del__(self):
        if self._worker_pool:
            self._worker_pool.terminate()
