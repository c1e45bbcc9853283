# SPDX-License-Identifier: Apache-2.0
"""Prints what TensorBoard has below a folder, {tag: [values]}, as JSON."""
import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.io_wrapper import GetLogdirSubdirectories

found = {}
for folder in GetLogdirSubdirectories(sys.argv[1]):
    events = EventAccumulator(folder)
    events.Reload()
    for tag in events.Tags()["scalars"]:
        found[tag] = [scalar.value for scalar in events.Scalars(tag)]
print(json.dumps(found))
