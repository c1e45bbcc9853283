/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h - finds the interpreter in a process: its CPython version, and where its state is. */
#pragma once

#include "drain/python/layout.h"

struct runtime {
	uint64_t address; /* address of _PyRuntime */
	struct layout layout;
};

/* The address of the pointer to the main interpreter. */
uint64_t runtime_interpreter(const struct runtime *runtime);

/*
 * Searches what the process has mapped, which takes a millisecond. Executable and libpython are
 * found even if their files were deleted or replaced, or lie in another root.
 */
enum reason runtime_find(const struct memory *memory, struct runtime *ret);
