# SPDX-License-Identifier: Apache-2.0
eager = True
def executing_eagerly():
    return eager
