/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_fn.h - follows the loader of DLPROF_BATCH_FN.
 *
 * A generator function or __iter__ makes iterators, whose __next__ calls are waits. Calls of other
 * functions are waits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "python/interpreter/api.h"

/* Returns the module to patch, or NULL. */
const char *batch_fn_module(void);

void batch_fn_patch(PyObject *module, size_t row);

/* Called before the program runs, to patch its class once that is made. */
void batch_fn_main(void);

/* Set while the function is missing: each audit event looks for it. */
extern bool batch_fn_pending;
void batch_fn_look(void);
