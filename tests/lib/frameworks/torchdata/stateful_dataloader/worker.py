# SPDX-License-Identifier: Apache-2.0
from torch.utils.data import _DatasetKind
def _worker_loop(dataset, index_queue, data_queue, collate_fn, worker_id):
    fetcher = _DatasetKind.create_fetcher(_DatasetKind.Map, dataset, True, collate_fn, False)
    while True:
        message = index_queue.get()
        if message is None:
            break
        number, (indices, snapshot) = message
        data_queue.put((number, (fetcher.fetch(indices), worker_id, None)))
