/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h - finds the Python interpreter in a process: its version, and where its state is. */
#pragma once

#include "drain/python/layout.h"

struct runtime {
	uint64_t address;
	struct layout layout;
};

uint64_t runtime_interpreter(const struct runtime *runtime);

/* Takes about 1 ms. Also finds files that were deleted or replaced, or are in another root. */
enum reason runtime_find(const struct memory *memory, struct runtime *ret);
