# SPDX-License-Identifier: Apache-2.0
# tf.data: [[9]]
from counted import drain_counted

drain_counted()
