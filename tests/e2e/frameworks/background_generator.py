# SPDX-License-Identifier: Apache-2.0
# prefetch_generator: [[10, 10]]
from driver import drain
from elements import elements

from prefetch_generator import BackgroundGenerator
import inspect
print(len(inspect.signature(BackgroundGenerator.run).parameters) > 0)
for _ in range(2): drain(BackgroundGenerator(elements).__next__)
