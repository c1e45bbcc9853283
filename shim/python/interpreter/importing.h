/* SPDX-License-Identifier: Apache-2.0 */
/* importing.h - notes when a thread imports a module: what it decodes meanwhile is no data. */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

void importing_patch(PyObject *module, size_t row);
