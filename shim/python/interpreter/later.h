/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later.h - modules that are patched once the process records, and not before: a process that never
 * does keeps them as they are. Not by a nested import, either: whatever is imported while recording
 * is found at the next load.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "python/interpreter/api.h"

struct later {
	const char *module;
	const char *implied;	/* as in boundary.def */
	void (*patch)(PyObject *module, size_t row);
	size_t row;
	bool is_function;	/* of a module; else a method of a class */
	atomic_bool done;
};

/* From the constructor: those that there are. */
void later_ready(struct later *modules, size_t count);

/* A module is about to be imported. */
void later_import(PyObject *name);

/*
 * A load begins, the GIL is held: patches what was imported since the last one. `functions`: those
 * of modules, too. Not so before workers are started: a dataset that holds such a function is
 * pickled for them, which looks it up by name and insists on finding the very same.
 */
void later_load_begin(bool functions);

/* The same in the middle of a load, without functions: for those whose import was an event. */
void later_opened(void);

/* Whether a module, if it is one, is still in its import. */
bool later_is_importing(PyObject *module);
