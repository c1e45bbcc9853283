/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later.h - modules that are patched only when the process records: a process that never does
 * leaves them as they are. Nothing is imported for that, either: modules that are imported while
 * recording are found at the next load.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "python/interpreter/api.h"

struct later {
	const char *module;
	const char *implied;	/* module that implies it, as in boundary.def */
	void (*patch)(PyObject *module, size_t row);
	size_t row;
	bool is_function;	/* a module's function is patched; else a class's method */
	atomic_bool done;
};

/* Sets all such modules; called by the constructor. */
void later_ready(struct later *modules, size_t count);

/* Notes that a module is about to be imported. */
void later_import(PyObject *name);

/*
 * Patches modules that were imported since the last load; called with the GIL when a load begins.
 * `functions`: also functions of modules. Not so before workers start: a dataset that holds such a
 * function is pickled for them, which looks it up by name and wants the very same object.
 */
void later_load_begin(bool functions);

/* Patches like later_load_begin(), but in the middle of a load, for imports that were events. */
void later_opened(void);

/* Whether `module`, if it is a module, is still being imported. */
bool later_is_importing(PyObject *module);
