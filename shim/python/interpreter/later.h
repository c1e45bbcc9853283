/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later.h - modules that are patched only when the process records: in a process that never does,
 * they stay as they are. Patching them imports nothing; modules that are imported while recording
 * are found at the next load.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "python/interpreter/api.h"

struct later {
	const char *module;
	const char *implied;	/* module whose presence implies this one, as in boundary.def */
	void (*patch)(PyObject *module, size_t row);
	size_t row;
	bool is_function;	/* a function of the module is patched, not a class's method */
	atomic_bool done;
};

/* Sets the list of these modules; called by the constructor. */
void later_ready(struct later *modules, size_t count);

/* Notes that a module is about to be imported. */
void later_import(PyObject *name);

/*
 * Patches modules that were imported since the last load; called with the GIL when a load begins.
 * `functions`: also patches functions of modules. Only in workers: a dataset that holds such a
 * function is pickled for the workers, and pickle looks the function up by name and wants the same
 * object.
 */
void later_load_begin(bool functions);

/* Does later_load_begin() within a load, for imports that raised an event. */
void later_opened(void);

/* Returns true if `module` is a module that is still being imported. */
bool later_is_importing(PyObject *module);
