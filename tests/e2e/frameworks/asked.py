# SPDX-License-Identifier: Apache-2.0
"""Iterators that the graph knows from their making."""
from driver import now
from graphs import graph, metrics
from tensorflow.python.data.ops import iterator_ops
from tensorflow.python.data.ops.multi_device_iterator_ops import OwnedMultiDeviceIterator  # noqa

made = 0


def create():
    global made
    graph.iterator_made(made)
    made += 1
    return made - 1


def ask(number, iterator, inner=-1):
    begin = now()
    graph.graph_ask(number, 2000, 64, iterator.resource, inner)
    print("WAIT", begin, now(), flush=True)


def done(count):
    for number in range(count):
        graph.graph_next(number, 0, -1)
    print(made, metrics.metrics_made(), metrics.metrics_calls(), graph.times_wrong())


iterator_ops.create = create
