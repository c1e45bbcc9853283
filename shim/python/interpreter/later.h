/* SPDX-License-Identifier: Apache-2.0 */
/* later.h - patches modules that only loads use, no earlier than at the begin of a load. */
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
	bool is_function;	/* patches a function of the module, not a method */
	atomic_bool done;
};

void later_ready(struct later *modules, size_t count);

void later_import(PyObject *name);

/* `functions`: also patches functions. Only in workers, as pickle refuses a replaced function. */
void later_load_begin(bool functions);

/* Does later_load_begin() within a load, after imports that raised an event. */
void later_opened(void);

bool later_is_importing(PyObject *module);
