# SPDX-License-Identifier: Apache-2.0
# tf.data: []


from tensorflow.python.data.ops.iterator_ops import Iterator
print(Iterator('resource', initializer=3).resource)
