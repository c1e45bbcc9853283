# SPDX-License-Identifier: Apache-2.0
"""torch/utils/data/__init__.py of the stub: the loader without data pipes."""
import sys
import types

import torch


class _Pipe:
    pass


class IterDataPipe(_Pipe):
    pass


class MapDataPipe(_Pipe):
    pass


def _module(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module
    parent, _, leaf = name.rpartition(".")
    setattr(sys.modules[parent], leaf, module)


torch.utils = sys.modules["torch.utils"]
torch.utils.data = sys.modules[__name__]
_module(__name__ + ".graph_settings", apply_random_seed=None, apply_sharding=None,
        apply_shuffle_settings=None)
_module(__name__ + ".datapipes")
_module(__name__ + ".datapipes.datapipe", IterDataPipe=IterDataPipe, MapDataPipe=MapDataPipe,
        _IterDataPipeSerializationWrapper=_Pipe, _MapDataPipeSerializationWrapper=_Pipe)

from torch.utils.data.sampler import (  # noqa: E402
    BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler,
    WeightedRandomSampler)
from torch.utils.data.dataset import (  # noqa: E402
    ChainDataset, ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset)
from torch.utils.data.dataloader import (  # noqa: E402
    DataLoader, _DatasetKind, default_collate, default_convert, get_worker_info)
