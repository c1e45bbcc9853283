/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_fn.h - follows the loader of DLPROF_BATCH_FN.
 *
 * If it is a generator function or __iter__, calls of the iterators' __next__ are waits. If it is
 * another function, its own calls are waits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "python/interpreter/api.h"

/* Returns the module to patch, or NULL. */
const char *batch_fn_module(void);

void batch_fn_patch(PyObject *module, size_t row);

/* Called before the main module runs. Patches its class when the class statement made it. */
void batch_fn_main(void);

/* True while the function is missing. Then batch_fn_look() looks for it at each audit event. */
extern bool batch_fn_pending;
void batch_fn_look(void);
