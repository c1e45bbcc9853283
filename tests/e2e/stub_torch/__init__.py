# SPDX-License-Identifier: Apache-2.0
"""As much of torch as its own DataLoader needs: no tensors, no binary, any CPython from 3.8.

stub.py puts this file as torch/__init__.py next to the unmodified sources of torch.utils.data, so
that the real loader, with its processes and pipes, runs on interpreters that have no torch.
"""
import importlib.machinery
import os
import random as _random
import sys
import types

__version__ = "0.0.stub"
int, float = "int64", "float32"
int64, float32, float64, double = "int64", "float32", "float64", "float64"


class Tensor:
    """A number or a list; data loading only draws seeds and permutations."""

    def __init__(self, value=None):
        self.value = value

    def random_(self, generator=None):
        self.value = (generator or default_generator).rng.getrandbits(62)
        return self

    def item(self):
        return self.value

    def tolist(self):
        return self.value

    def __iter__(self):
        return iter(self.value)

    def pin_memory(self, device=None):
        return self

    def backward(self):
        sys.modules["torch.autograd"].backward(self)


tensor = Tensor


class Generator:
    def __init__(self):
        self.rng = _random.Random(0)

    def manual_seed(self, seed):
        self.rng = _random.Random(seed)
        return self


default_generator = Generator()


def empty(size, dtype=None):
    return Tensor()


def randperm(count, generator=None):
    order = list(range(count))
    (generator or default_generator).rng.shuffle(order)
    return Tensor(order)


def manual_seed(seed):
    default_generator.manual_seed(seed)


def set_num_threads(count):
    pass


def set_vital(*names):
    pass


class _Range:
    def __init__(self, name):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def _nothing(*args, **keywords):
    return None


def _module(name, **members):
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    module.__dict__.update(members)
    sys.modules[name] = module
    parent, _, leaf = name.rpartition(".")
    setattr(sys.modules[parent], leaf, module)
    return module


class _ExceptionWrapper:
    def __init__(self, exc_info=None, where="in background"):
        self.exc_type, self.exc = (exc_info or sys.exc_info())[:2]
        self.text = "Caught {} {}: {}".format(self.exc_type.__name__, where, self.exc)

    def reraise(self):
        raise self.exc_type(self.text)


_ExceptionWrapper.__name__ = _ExceptionWrapper.__qualname__ = "ExceptionWrapper"
_ExceptionWrapper.__module__ = "torch._utils"


def _accumulate(iterable):
    total = 0
    for item in iterable:
        total += item
        yield total


_module("torch._C", _log_api_usage_once=_nothing, _set_worker_pids=_nothing,
        _remove_worker_pids=_nothing, _error_if_any_worker_fails=_nothing,
        _set_worker_signal_handlers=_nothing)
_module("torch._utils", ExceptionWrapper=_ExceptionWrapper, _accumulate=_accumulate,
        cpu_count=lambda: len(os.sched_getaffinity(0)))
_module("torch._six", string_classes=(str, bytes))


def _backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
              grad_variables=None, inputs=None):
    """Of a tensor whose value is a function, that is the gradient's."""
    tensors.value()


def _save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    f.write(obj)


class _Optimizer:
    """With the hooks that torch has since 2.0: what they return replaces the arguments."""
    before, after = [], []

    def step(self, *args, **keywords):
        args = (self,) + args
        for hook in self.before:
            changed = hook(self, args, keywords)
            if changed is not None:
                args, keywords = changed
        out = type(self).update(*args, **keywords)
        for hook in self.after:
            hook(self, args, keywords)
        return out


_backward.__name__, _save.__name__ = "backward", "save"
_module("torch.autograd", backward=_backward)
_module("torch.serialization", save=_save)
_module("torch.optim")
if os.environ.get("TEST_OPTIMIZER_HOOKS") != "0":
    _module("torch.optim.optimizer", Optimizer=_Optimizer,
            register_optimizer_step_pre_hook=_Optimizer.before.append,
            register_optimizer_step_post_hook=_Optimizer.after.append)
else:
    _module("torch.optim.optimizer", Optimizer=_Optimizer)
_module("torch._dynamo")
_module("torch._dynamo.variables")
_module("torch._dynamo.variables.optimizer", OptimizerVariable=type("OptimizerVariable", (), {
    "__init__": lambda self, value: None}))
_module("torch.autograd.profiler", record_function=_Range)
_module("torch.distributed", is_available=lambda: False, is_initialized=lambda: False)
# A device that pins by doing nothing: what matters is the thread between the two queues. Another
# vendor's is none of CUDA.
_module("torch.cuda", is_available=lambda: os.environ.get("TEST_PIN") == "1",
        current_device=lambda: 0, set_device=_nothing)
_module("torch.accelerator", is_available=lambda: os.environ.get("TEST_PIN") in ("1", "other"),
        current_accelerator=lambda: types.SimpleNamespace(type="cuda"),
        current_device_index=lambda: 0, set_device_index=_nothing)

import multiprocessing as _multiprocessing  # noqa: E402

_module("torch.multiprocessing", _set_thread_name=_nothing,
        **{name: getattr(_multiprocessing, name) for name in _multiprocessing.__all__})

try:
    import typing_extensions  # noqa: F401
except ImportError:  # as with -S
    import typing as _typing

    _extensions = sys.modules["typing_extensions"] = types.ModuleType("typing_extensions")
    _extensions.Self = _typing.Any
    _extensions.deprecated = lambda *words, **keywords: lambda function: function
