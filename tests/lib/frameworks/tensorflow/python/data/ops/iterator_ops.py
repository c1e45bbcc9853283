# SPDX-License-Identifier: Apache-2.0
from tensorflow.python.eager import context
create = lambda: None                       # a test may set this, to make an object of TensorFlow itself
class Iterator:                             # the iterator of graphs and sessions
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
