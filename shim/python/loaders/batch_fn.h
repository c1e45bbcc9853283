/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_fn.h - DLPROF_BATCH_FN=module:Class.method or module:function, a loader that the user
 * names.
 *
 * If it is a generator function or an __iter__, each call makes an iterator, and the calls of that
 * iterator's __next__ are the waits; else its own calls are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "python/interpreter/api.h"

/* Reads the variable. Returns the module to be patched once it is imported; NULL: none. */
const char *batch_fn_module(void);

/* Patches the finished module; called by audit.c. */
void batch_fn_patch(PyObject *module, size_t row);

/* Called when the program is about to run: a class of its own is patched as soon as it is made. */
void batch_fn_main(void);

/* A function of the program itself is looked for at every audit event, since `def` raises none. */
extern bool batch_fn_pending;
void batch_fn_look(void);
