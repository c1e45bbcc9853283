# SPDX-License-Identifier: Apache-2.0
"""Modules of the frameworks' names, with as much of their structure as loaders.def relies on.

write(folder) makes packages of them. Elements are numbers; what loads sleeps.
"""
import os

MODULES = {
    "tensorflow/python/eager/context.py": '''
eager = True
def executing_eagerly():
    return eager
''',
    "tensorflow/python/data/ops/iterator_ops.py": '''
from tensorflow.python.eager import context
create = lambda: None                       # makes what TensorFlow makes of it, elsewhere
class Iterator:                             # of graphs and sessions
    def __init__(self, resource, initializer=None):
        self.resource = resource
class OwnedIterator:
    def __init__(self, dataset=None, components=None, element_spec=None):
        if dataset is None:
            self._components = components
        else:
            self._dataset = dataset
            self._elements = dataset.elements()
            self.resource = create()
    def __iter__(self):
        return self
    def next(self):
        return self.__next__()
    def __next__(self):
        if not context.executing_eagerly():
            return "symbolic"
        return next(self._elements)
''',
    "tensorflow/python/data/ops/dataset_ops.py": '''
import time
from tensorflow.python.data.ops import iterator_ops
class NumpyIterator:
    __slots__ = ["_iterator", "_dataset"]
    def __init__(self, dataset):
        self._iterator = iter(dataset)
        self._dataset = dataset
    def __iter__(self):
        return self
    def __next__(self):
        return [next(self._iterator)]
class Dataset:
    def __init__(self, count, fails=None):
        self.count, self.fails = count, fails
    def elements(self):
        for i in range(self.count):
            time.sleep(0.002)
            yield i
            if i == self.fails:
                raise ValueError("no element %d" % i)
    def __iter__(self):
        return iterator_ops.OwnedIterator(self)
    def as_numpy_iterator(self):
        return NumpyIterator(self)
''',
    "tensorflow/python/data/ops/multi_device_iterator_ops.py": '''
from tensorflow.python.data.ops import dataset_ops, iterator_ops
class OwnedMultiDeviceIterator:
    def __init__(self, dataset=None, devices=None, components=None):
        if dataset is None:
            self._device_iterators = components
            return
        self.resource = iterator_ops.create()
        self._device_iterators = [iter(dataset_ops.Dataset(dataset.count)) for _ in devices]
''',
    "tensorflow/python/distribute/input_lib.py": '''
class DistributedIteratorBase:
    def __init__(self, iterators):
        self._iterators = iterators
    def __iter__(self):
        return self
    def __next__(self):                     # an element for each replica
        return [next(iterator) for iterator in self._iterators]
class DistributedIterator(DistributedIteratorBase):
    pass
''',
    "tensorflow/python/keras/callbacks.py": '''
class CallbackList:
    def on_train_batch_begin(self, batch, logs=None):
        return batch
''',
    "keras/src/callbacks/callback_list.py": '''
class CallbackList:
    def on_train_batch_begin(self, batch, logs=None):
        return batch
''',
    "keras/src/callbacks/__init__.py": "from keras.src.callbacks.callback_list import CallbackList\n",
    "keras/callbacks/__init__.py": "from keras.src.callbacks import CallbackList\n",
    "keras/src/backend/jax/trainer.py": '''
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
''',
    "mxnet/gluon/data/dataloader.py": '''
import time
class _MultiWorkerIter:
    def __init__(self, count, data_loader=None):
        self._data_loader = data_loader
        self.elements = iter(range(count))
    def __iter__(self):
        return self
    def next(self):
        return self.__next__()
    def __next__(self):
        time.sleep(0.002)
        return next(self.elements)
class DataLoader:
    def __init__(self, count, num_workers=0):
        self.count, self.num_workers = count, num_workers
    def __iter__(self):
        def same_process_iter():
            for i in range(self.count):
                time.sleep(0.002)
                yield i
        source = _MultiWorkerIter(self.count, self) if self.num_workers else same_process_iter()
        for item in source:
            yield item
''',
    "mxnet/io/io.py": '''
import time
class DataIter:
    def __iter__(self):
        return self
    def reset(self):
        self.at = 0
    def next(self):
        if self.iter_next():
            return self.at
        raise StopIteration
    def __next__(self):
        return self.next()
class NDArrayIter(DataIter):
    def __init__(self, count):
        self.at, self.count = 0, count
    def iter_next(self):
        time.sleep(0.002)
        self.at += 1
        return self.at <= self.count
''',
    "paddle/io/dataloader/dataloader_iter.py": '''
import time
class _DataLoaderIterBase:                  # knows the dataset, but not its loader
    def __init__(self, loader):
        self._dataset = loader.dataset
        self._reset()
    def _reset(self):
        self.elements = iter(self._dataset)
    def __iter__(self):
        return self
class _DataLoaderIterSingleProcess(_DataLoaderIterBase):
    def __next__(self):
        time.sleep(0.002)
        return next(self.elements)
class _DataLoaderIterMultiProcess(_DataLoaderIterBase):
    def __next__(self):
        time.sleep(0.002)
        return next(self.elements)
''',
    "paddle/io/reader.py": '''
from .dataloader.dataloader_iter import _DataLoaderIterMultiProcess, _DataLoaderIterSingleProcess
class DataLoader:
    def __init__(self, dataset, num_workers=0, persistent_workers=False):
        self.dataset, self.num_workers = dataset, num_workers
        self._persistent_workers, self._iterator = persistent_workers, None
    def __iter__(self):
        if self.num_workers == 0:
            return _DataLoaderIterSingleProcess(self)
        if not self._persistent_workers:
            return _DataLoaderIterMultiProcess(self)
        if self._iterator is None:
            self._iterator = _DataLoaderIterMultiProcess(self)
        else:
            self._iterator._reset()
        return self._iterator
    def __call__(self):
        return self.__iter__()
''',
    "nvidia/dali/types.py": '''
import enum
PipelineAPIType = enum.Enum("PipelineAPIType", ["BASIC", "ITERATOR", "SCHEDULED"], start=0)
''',
    "nvidia/dali/pipeline.py": '''
import time
from nvidia.dali.types import PipelineAPIType
class Pipeline:
    def __init__(self, count):
        self.count, self.at, self._api_type = count, 0, None
    def used_as(self, kind):
        self._api_type = self._api_type or kind
    def schedule_run(self):
        pass
    def release_outputs(self):
        pass
    def _outputs(self):
        self.at += 1
        if self.at > self.count:
            self.at = 0
            raise StopIteration
        time.sleep(0.002)
        return self.at
    def outputs(self, cuda_stream=None):
        self.used_as(PipelineAPIType.SCHEDULED)
        return self._outputs()
    def share_outputs(self, cuda_stream=None):
        self.used_as(PipelineAPIType.SCHEDULED)
        return self._outputs()
    def run(self, cuda_stream=None, /, **inputs):
        self.used_as(PipelineAPIType.BASIC)
        self.schedule_run()
        return self.outputs(cuda_stream)
''',
    "nvidia/dali/plugin/base_iterator.py": '''
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
    def drop_last(self):                    # as reset() does
        self._next_impl()
class OldIterator(_DaliBaseIterator):
    def _next_impl(self):
        if self._first_batch is not None:
            return super()._next_impl()
        return {"x": [pipe.run() for pipe in self._pipes]}
''',
    "nvidia/dali/plugin/jax/clu.py": '''
from nvidia.dali.plugin.jax.iterator import DALIGenericIterator
class DALIGenericPeekableIterator(DALIGenericIterator):
    def __next__(self):
        return self._next_impl()
''',
    "grain/_src/python/dataset/dataset.py": '''
import time
class DatasetIterator:
    def __init__(self, parents=()):
        self._parents = parents
    def __iter__(self):
        return self
class Source(DatasetIterator):
    def __init__(self, count):
        super().__init__()
        self.elements = iter(range(count))
    def __next__(self):
        time.sleep(0.0005)
        return next(self.elements)
class Batch(DatasetIterator):
    def __init__(self, parent, size):
        super().__init__((parent,))
        self.size = size
    def __next__(self):
        values = []
        try:
            for _ in range(self.size):
                values.append(next(self._parents[0]))
        except StopIteration:
            if not values:
                raise
        return values
class Prefetch(DatasetIterator):            # a thread asks its parent
    def __init__(self, parent):
        super().__init__((parent,))
        self.thread = None
    def __next__(self):
        import queue, threading
        if not self.thread:
            self.queue = queue.Queue(2)
            def fill():
                for value in self._parents[0]:
                    self.queue.put(value)
                self.queue.put(None)
            self.thread = threading.Thread(target=fill)
            self.thread.start()
        value = self.queue.get()
        if value is None:
            self.thread.join()
            raise StopIteration
        return value
''',
    "grain/_src/python/data_loader.py": '''
from grain._src.python.dataset import dataset
class DataLoaderIterator:
    def __init__(self, data_loader):
        self._data_loader = data_loader
        self._iterator = data_loader.pipeline()
    def __iter__(self):
        return self
    def __next__(self):
        return next(self._iterator)
class DataLoader:
    def __init__(self, count):
        self.count = count
    def pipeline(self):
        return dataset.Prefetch(dataset.Batch(dataset.Source(self.count), 4))
    def __iter__(self):
        return DataLoaderIterator(self)
''',
    "torchdata/nodes/loader.py": '''
import time
class BaseNode:
    def __iter__(self):
        return self
    def __next__(self):
        return self.next()
class LoaderIterator(BaseNode):
    def __init__(self, loader):
        self.loader, self._cached_item, self.at = loader, None, 0
    def has_next(self):
        if self._cached_item is None:
            try:
                self._cached_item = next(self)
            except StopIteration:
                pass
        return self._cached_item is not None
    def next(self):
        if self._cached_item is not None:
            item, self._cached_item = self._cached_item, None
            return item
        self.at += 1
        if self.at > self.loader.count:
            raise StopIteration
        time.sleep(0.002)
        return self.at
class Loader:
    def __init__(self, count):
        self.count = count
    def __iter__(self):
        return LoaderIterator(self)
''',
    "monai/data/thread_buffer.py": '''
import queue, threading
class ThreadBuffer:
    def __init__(self, src, buffer_size=1):
        self.src, self.buffer, self.stopped = src, queue.Queue(buffer_size), False
    def enqueue_values(self):
        for value in self.src:
            while not self.stopped:
                try:
                    self.buffer.put([value], timeout=0.01)
                    break
                except queue.Full:
                    pass
            if self.stopped:
                return
        self.buffer.put(None)
    def __iter__(self):
        thread = threading.Thread(target=self.enqueue_values, daemon=True)
        thread.start()
        try:
            for value, in iter(self.buffer.get, None):
                yield value
        finally:
            self.stopped = True
            thread.join()
''',
    "prefetch_generator/__init__.py": '''
import queue, threading
class BackgroundGenerator(threading.Thread):
    def __init__(self, generator, max_prefetch=1):
        super().__init__(daemon=True)
        self.queue, self.generator = queue.Queue(max_prefetch), generator
        self.start()
    def run(self):
        try:
            for item in self.generator:
                self.queue.put((item, None))
            self.queue.put((None, StopIteration()))
        except Exception as error:
            self.queue.put((None, error))
    def next(self):
        item, error = self.queue.get()
        if error:
            raise error
        return item
    __next__ = next
    def __iter__(self):
        return self
''',
    "torchdata/stateful_dataloader/worker.py": '''
from torch.utils.data import _DatasetKind
def _worker_loop(dataset, index_queue, data_queue, collate_fn, worker_id):
    fetcher = _DatasetKind.create_fetcher(_DatasetKind.Map, dataset, True, collate_fn, False)
    while True:
        message = index_queue.get()
        if message is None:
            break
        number, (indices, snapshot) = message
        data_queue.put((number, (fetcher.fetch(indices), worker_id, None)))
''',
    "torchdata/stateful_dataloader/stateful_dataloader.py": '''
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
    def state_dict(self):                   # the workers have their part of it
        self.made = self._get_iterator()
    def load_state_dict(self, state):
        self.state = state
''',
}

DALI = '''
from nvidia.dali.plugin.base_iterator import _DaliBaseIterator, OldIterator
class {0}({1}):
    def __init__(self, pipelines, prepare_first_batch=True):
        super().__init__(pipelines)
        self._first_batch = None
        if prepare_first_batch:
            self._first_batch = {0}.__next__(self)
    def __next__(self):
        return self._next_impl()
'''
for _module, _classes in {"pytorch/__init__": ("DALIGenericIterator", "DALIRaggedIterator"),
                          "jax/iterator": ("DALIGenericIterator",),
                          "mxnet": ("DALIGenericIterator", "DALIGluonIterator"),
                          "paddle": ("DALIGenericIterator",)}.items():
    _base = "OldIterator" if _module == "mxnet" else "_DaliBaseIterator"
    MODULES["nvidia/dali/plugin/{}.py".format(_module)] = "".join(
        DALI.format(_class, _base) for _class in _classes)


def write(folder):
    for path, text in MODULES.items():
        path = os.path.join(folder, path)
        above = os.path.dirname(path)
        os.makedirs(above, exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        while above != folder:
            if not os.path.exists(os.path.join(above, "__init__.py")):
                open(os.path.join(above, "__init__.py"), "w").close()
            above = os.path.dirname(above)
