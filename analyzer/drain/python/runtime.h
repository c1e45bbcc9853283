/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h - the interpreter in a process: which CPython it is, and where its state lies. */
#pragma once

#include "drain/python/layout.h"

struct runtime {
	uint64_t address; /* of _PyRuntime */
	struct layout layout;
};

/* Where the address of the main interpreter lies. */
uint64_t runtime_interpreter(const struct runtime *runtime);

/*
 * Looks through what the process has mapped, which takes a millisecond. The executable and
 * libpython are found also if their files were deleted or replaced, or lie in another root.
 */
enum reason runtime_find(const struct memory *memory, struct runtime *ret);
