/* SPDX-License-Identifier: Apache-2.0 */
/* loader.h - patches loaders of loaders.def, or the one that the user names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "python/interpreter/api.h"

enum loader_id {
#define LOADER(id, ...) LOADER_##id,
#include "python/loaders/loaders.def"
#undef LOADER
	LOADER_MAX
};

void loader_patch(PyObject *module, size_t row);

/*
 * The loader whose function the user names in DLPROF_BATCH_FN. If the function is a generator
 * function or __iter__, each __next__ of its iterators is a wait, else each call of the function.
 */

/* Returns the name of the module of that loader, or NULL. */
const char *loader_users_module(void);

void loader_users_patch(PyObject *module, size_t row);

/* Called before the main module runs. Patches a class of that module once it is made. */
void loader_users_main(void);

/* True as long as the function was not found: at each audit event loader_users_look() looks. */
extern bool loader_users_pending;
void loader_users_look(void);
