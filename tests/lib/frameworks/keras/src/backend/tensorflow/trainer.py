# SPDX-License-Identifier: Apache-2.0
class Trainer:
    def fit(self, data, ask, validation):
        data.cycle = data                   # as Keras leaves it for the garbage collector
        ask(iter(data))
        self.evaluate(validation, ask)
    def evaluate(self, data, ask):
        data.cycle = data
        ask(iter(data))
