# SPDX-License-Identifier: Apache-2.0
# home:read {"tf.data": [[9]], "batch_fn": [[10]]}
import home
from counted import drain_counted
from driver import drain

drain_counted()
it = iter(range(10))
drain(lambda: home.read(it))
