/* SPDX-License-Identifier: Apache-2.0 */
/*
 * importing.h - whether a thread imports a module: what is decoded meanwhile is the library's own
 * (constants of Cython, archives of modules) and no data.
 */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

/* In importlib's own module. */
void importing_patch(PyObject *module, size_t row);
