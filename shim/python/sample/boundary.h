/* SPDX-License-Identifier: Apache-2.0 */
/* boundary.h - times decoding from outside, at the Python calls of boundary.def. */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

enum boundary_row {
#define BOUNDARY(id, module, implied, class, function, library, format, measure) BOUNDARY_##id,
#include "python/sample/boundary.def"
};

void boundary_patch(PyObject *module, size_t row);
