# SPDX-License-Identifier: Apache-2.0
# monai: [[10, 10, 1]]
from driver import drain
from elements import elements

from monai.data.thread_buffer import ThreadBuffer
for _ in range(2): drain(iter(ThreadBuffer(elements)).__next__)
it = iter(ThreadBuffer(elements)); print(next(it), it.__class__); it.close()
