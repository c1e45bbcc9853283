/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_fn.h - follows a loader that the user names: DLPROF_BATCH_FN=module:Class.method or
 * module:function.
 *
 * If the name is a generator function or an __iter__, each call makes an iterator, and calls of
 * that iterator's __next__ are the waits. Otherwise each call is a wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "python/interpreter/api.h"

/* Reads DLPROF_BATCH_FN. Returns the module to patch once it is imported, or NULL. */
const char *batch_fn_module(void);

/* Patches the finished module; called by audit.c. */
void batch_fn_patch(PyObject *module, size_t row);

/* Called when the program is about to run: patches a class of the program as soon as it is made. */
void batch_fn_main(void);

/* Set while the user's function is missing: each audit event looks for it, as `def` raises none. */
extern bool batch_fn_pending;
void batch_fn_look(void);
