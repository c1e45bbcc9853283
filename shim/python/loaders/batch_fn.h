/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_fn.h - follows the loader whose function the user names in DLPROF_BATCH_FN.
 *
 * If the function is a generator function or __iter__, each __next__ of its iterators is a wait.
 * Else each call of the function is a wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "python/interpreter/api.h"

/* Returns the name of the module in which the loader of DLPROF_BATCH_FN is, or NULL. */
const char *batch_fn_module(void);

void batch_fn_patch(PyObject *module, size_t row);

/* Called before the main module runs. Patches a class of that module once it is made. */
void batch_fn_main(void);

/* True as long as the function was not found: batch_fn_look() is to look at each audit event. */
extern bool batch_fn_pending;
void batch_fn_look(void);
