/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor.h - times fetching tensors' descriptors from the process that made them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/sys.h"
#include "python/interpreter/api.h"

void descriptor_patch(PyObject *module, size_t row);

/* fetching is not observed, as this Python names the function otherwise */
extern HIDDEN bool descriptor_blind;
