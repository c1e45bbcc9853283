# SPDX-License-Identifier: Apache-2.0
import itertools
import multiprocessing
import queue
import threading
import time
from .fetcher import _IterableDatasetFetcher, _MapDatasetFetcher
from .worker import _IterableDatasetStopIteration, _ResumeIteration, _worker_loop
class _DataLoaderIterBase:                  # knows its dataset, but not the loader that made it
    def __init__(self, loader):
        self._dataset, self._dataset_kind = loader.dataset, loader.dataset_kind
        self._batch_sampler, self._num_workers = loader.batch_sampler, loader.num_workers
        self._prefetch_factor, self._collate_fn = loader.prefetch_factor, loader.collate_fn
        self._sampler_iter = iter(self._index_sampler)
    @property
    def _index_sampler(self):
        return itertools.repeat([0, 1]) if self._dataset_kind else self._batch_sampler
    def __iter__(self):
        return self
class _DataLoaderIterSingleProcess(_DataLoaderIterBase):
    def __init__(self, loader):
        super().__init__(loader)
        fetchers = _MapDatasetFetcher, _IterableDatasetFetcher
        self._dataset_fetcher = fetchers[self._dataset_kind](self._dataset, True, self._collate_fn, False)
        self._blocking_queue, self._over = queue.Queue(self._prefetch_factor), threading.Event()
        self._thread = threading.Thread(target=self._thread_loop, args=("cpu",), daemon=True)
        self._thread.start()
    def _thread_loop(self, place):
        while not self._over.is_set():
            try:
                batch = self._dataset_fetcher.fetch(next(self._sampler_iter), self._over)
            except StopIteration:
                batch = None
            while not self._over.is_set():
                try:
                    self._blocking_queue.put(batch, timeout=.01)
                    break
                except queue.Full:
                    pass
            if batch is None:
                return
    def __next__(self):
        batch = self._blocking_queue.get()
        if batch is None:
            raise StopIteration
        return batch
    def __del__(self):
        self._over.set()
class _DataLoaderIterMultiProcess(_DataLoaderIterBase):
    def __init__(self, loader):
        super().__init__(loader)
        self._persistent_workers, self._shutdown = loader._persistent_workers, False
        self._start_epoch()
        context = multiprocessing.get_context("fork")
        self._data_queue, self._blocking_queue = context.Queue(), queue.Queue()
        self._indices_queues = [context.Queue() for _ in range(self._num_workers)]
        self._workers = [context.Process(target=_worker_loop, daemon=True, args=(
            self._dataset, self._dataset_kind, tasks, self._data_queue, None, True, self._collate_fn, False, None,
            number, self._num_workers, False, 0)) for number, tasks in enumerate(self._indices_queues)]
        for worker in self._workers:
            worker.start()
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_indices()
        self._thread = threading.Thread(target=self._thread_loop, daemon=True)
        self._thread.start()
    def _start_epoch(self):
        self._send_idx = self._rcvd_idx = self._batches_outstanding = self._resumed = 0
        self._task_infos, self._arrived = {}, {}
        self._worker_status = [True] * self._num_workers
        self._workers_idx_cycle = itertools.cycle(range(self._num_workers))
    def _try_put_indices(self):
        indices = next(self._sampler_iter, None)
        if indices is None or True not in self._worker_status:
            return
        worker = next(i for i in self._workers_idx_cycle if self._worker_status[i])
        self._task_infos[self._send_idx] = worker
        self._indices_queues[worker].put((self._send_idx, indices))
        self._send_idx += 1
        self._batches_outstanding += 1
    def _get_data(self):                    # returns batch number _rcvd_idx or, of an iterable dataset, the next batch
        while True:
            while self._rcvd_idx in self._task_infos and self._rcvd_idx not in self._arrived and \
                    not self._worker_status[self._task_infos[self._rcvd_idx]]:
                self._rcvd_idx += 1
                self._batches_outstanding -= 1
                if self._batches_outstanding == 0:
                    self._blocking_queue.put(None)
            if self._rcvd_idx in self._arrived:
                return self._arrived.pop(self._rcvd_idx)
            try:
                data = self._data_queue.get()
            except (EOFError, OSError, TypeError):  # the program is ending
                return None
            if data is None:
                return None
            if isinstance(data, _IterableDatasetStopIteration):
                self._worker_status[data.worker_id] = False
                self._try_put_indices()
            elif isinstance(data[0], _ResumeIteration):
                return data[0]
            else:
                self._arrived[data[0]] = data[1]
    def _thread_loop(self):
        while True:
            batch = self._get_data()
            if batch is None:
                return
            if isinstance(batch, _ResumeIteration):
                self._resumed += 1
            else:
                self._blocking_queue.put(batch)
                self._rcvd_idx += 1
    def _reset(self):
        for tasks in self._indices_queues:
            tasks.put(_ResumeIteration())
        while self._resumed < self._num_workers:
            time.sleep(.001)
        while not self._blocking_queue.empty():
            self._blocking_queue.get()
        self._start_epoch()
        self._sampler_iter = iter(self._index_sampler)
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_indices()
    def __next__(self):
        if self._batches_outstanding == 0:
            self._try_shutdown_all()
            raise StopIteration
        batch = self._blocking_queue.get()
        if batch is None:
            self._try_shutdown_all()
            raise StopIteration
        self._batches_outstanding -= 1
        self._try_put_indices()
        return batch
    def _try_shutdown_all(self):
        if not self._persistent_workers and not self._shutdown:
            self._shutdown = True
            for tasks in self._indices_queues:
                tasks.put(None)
            for worker in self._workers:
                worker.join()
            self._data_queue.put(None)
