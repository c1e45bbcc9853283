/* SPDX-License-Identifier: Apache-2.0 */
/* loader.h - patches loaders of loaders.def, or the user's one (batch_fn.h). */
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

bool loader_is_known(const char *module, const char *class, const char *name);

/* Wraps the user's method or function. Anything else is noted as missing, under `where`. */
void loader_patch_users(PyObject *owner, bool is_class, const char *where, const char *name);
