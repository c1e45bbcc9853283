/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor.h - times requests by which a training gets tensors' file descriptors from workers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/sys.h"
#include "python/interpreter/api.h"

void descriptor_patch(PyObject *module, size_t row);

/* true: fetching is not observed, because this Python has another name for the function */
extern HIDDEN bool descriptor_blind;
