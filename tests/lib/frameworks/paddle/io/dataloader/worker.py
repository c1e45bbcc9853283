# SPDX-License-Identifier: Apache-2.0
from .fetcher import _IterableDatasetFetcher, _MapDatasetFetcher
place = []                                  # this worker's number, and the number of workers
class _ResumeIteration:
    pass
class _IterableDatasetStopIteration:
    def __init__(self, worker_id):
        self.worker_id = worker_id
def _worker_loop(dataset, dataset_kind, indices_queue, out_queue, done_event, auto_collate_batch, collate_fn,
                 drop_last, init_fn, worker_id, num_workers, use_shared_memory, base_seed, shm_cache_size=0):
    place[:] = worker_id, num_workers
    fetchers = _MapDatasetFetcher, _IterableDatasetFetcher
    fetcher, over = fetchers[dataset_kind](dataset, True, collate_fn, False), False
    while True:
        data = indices_queue.get(5)
        if data is None:
            break
        if isinstance(data, _ResumeIteration):
            out_queue.put((data, None, None))
            fetcher, over = fetchers[dataset_kind](dataset, True, collate_fn, False), False
        elif not over:
            try:
                out_queue.put((data[0], fetcher.fetch(data[1]), None))
            except StopIteration:
                out_queue.put(_IterableDatasetStopIteration(worker_id))
                over = True
