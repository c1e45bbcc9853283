/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later.h - modules that are patched only when the process records: a process that never does keeps
 * them as they are. There is no nested import, either: modules that are imported while recording
 * are found at the next load.
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
	bool is_function;	/* a module's function; else a class's method */
	atomic_bool done;
};

/* Called by the constructor, with all such modules. */
void later_ready(struct later *modules, size_t count);

/* Called when a module is about to be imported. */
void later_import(PyObject *name);

/*
 * Called with the GIL when a load begins: patches what was imported after the last one.
 * `functions`: also functions of modules. Not so before workers start: a dataset that holds such a
 * function is pickled for them, which looks it up by name and wants the very same object.
 */
void later_load_begin(bool functions);

/* Does the same in the middle of a load, without functions, for imports that were events. */
void later_opened(void);

/* Whether `module`, if it is a module, is still being imported. */
bool later_is_importing(PyObject *module);
