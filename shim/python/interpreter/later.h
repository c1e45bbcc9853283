/* SPDX-License-Identifier: Apache-2.0 */
/* later.h - patches modules that only loads use. This happens when a load begins, not before. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "python/interpreter/api.h"

struct later {
	const char *module;
	const char *implied;	/* once it is loaded, we import `module`; NULL: none */
	void (*patch)(PyObject *module, size_t row);
	size_t row;
	bool is_function;	/* patches a function of the module, not a method */
	atomic_bool done;
};

void later_ready(struct later *modules, size_t count);

void later_import(PyObject *name);

/* Patches methods and, if `functions`, functions: in workers only, since pickle refuses these. */
void later_load_begin(bool functions);

/* Patches what this load has imported since later_load_begin(). Called after an audit event. */
void later_opened(void);

bool later_is_importing(PyObject *module);
