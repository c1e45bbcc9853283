/* SPDX-License-Identifier: Apache-2.0 */
/* later.h - modules that are patched only once the process records, at the begin of a load. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "python/interpreter/api.h"

struct later {
	const char *module;
	const char *implied;	/* see boundary.def */
	void (*patch)(PyObject *module, size_t row);
	size_t row;
	bool is_function;	/* patch a function of the module, not a class's method */
	atomic_bool done;
};

void later_ready(struct later *modules, size_t count);

void later_import(PyObject *name);

/* `functions` are patched in workers only: pickle refuses an object that holds a replaced one. */
void later_load_begin(bool functions);

/* Does later_load_begin() within a load, for imports that raised an event. */
void later_opened(void);

bool later_is_importing(PyObject *module);
