/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h - finds the Python interpreter in a process: its version, and where its state is. */
#pragma once

#include "drain/python/layout.h"

struct runtime {
	uint64_t address; /* address of _PyRuntime */
	struct layout layout;
};

/* Returns the address of the pointer to the main interpreter. */
uint64_t runtime_interpreter(const struct runtime *runtime);

/*
 * Searches the files that the process has mapped, which takes a millisecond. Finds an executable or
 * a libpython even if its file was deleted or replaced, or is in another root.
 */
enum reason runtime_find(const struct memory *memory, struct runtime *ret);
