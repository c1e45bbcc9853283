/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.h - patches loaders of which only the calls that deliver batches are known: those of
 * loaders.def, or the one that the user names (batch_fn.h), which takes precedence.
 */
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

/* Patches a row of loaders.def in its module, which has been imported. */
void loader_patch(PyObject *module, size_t row);

/* Returns true if loaders.def has this method. */
bool loader_is_known(const char *module, const char *class, const char *name);

/*
 * Patches `name` in the user's class or module, noted as `where`. Only methods and functions can be
 * wrapped: anything else (a class method, a property) is noted as missing.
 */
void loader_patch_users(PyObject *owner, bool is_class, const char *where, const char *name);
