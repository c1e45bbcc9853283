# SPDX-License-Identifier: Apache-2.0
import time


class Elements:
    def __iter__(self):
        for i in range(10):
            time.sleep(0.002)
            yield i


elements = Elements()
