# SPDX-License-Identifier: Apache-2.0
from graphs import graph
from tensorflow.python.data.ops.dataset_ops import Dataset

import home, os, signal, warnings
pages = home.pages()
print(next(iter(Dataset(1))), next(pages))
iter(Dataset(1))
graph.graph_busy()
warnings.simplefilter("ignore")  # as of 3.12, that there are other threads
statuses = set()
for _ in range(60):
    child = os.fork()
    if not child:
        signal.alarm(10)
        del pages
        os._exit(0)
    statuses.add(os.waitpid(child, 0)[1])
    if statuses != {0}:
        break
graph.graph_idle()
print(statuses)
