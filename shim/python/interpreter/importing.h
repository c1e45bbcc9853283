/* SPDX-License-Identifier: Apache-2.0 */
/*
 * importing.h - notes while a thread imports a module: what is decoded meanwhile belongs to the
 * library (constants of Cython, archives of modules) and is not data.
 */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

/* Patches the module importlib._bootstrap. */
void importing_patch(PyObject *module, size_t row);
