# SPDX-License-Identifier: Apache-2.0
class _DatasetFetcher:
    def __init__(self, dataset, auto_collate_batch, collate_fn, drop_last):
        self.dataset, self.collate_fn = dataset, collate_fn
class _MapDatasetFetcher(_DatasetFetcher):
    def fetch(self, batch_indices, done_event=None):
        return self.collate_fn([self.dataset[i] for i in batch_indices])
class _IterableDatasetFetcher(_DatasetFetcher):
    def __init__(self, dataset, auto_collate_batch, collate_fn, drop_last):
        super().__init__(dataset, auto_collate_batch, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
    def fetch(self, batch_indices, done_event=None):
        samples = [sample for _, sample in zip(batch_indices, self.dataset_iter)]
        if not samples:
            raise StopIteration
        return self.collate_fn(samples)
