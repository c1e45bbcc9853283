/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - reads the Python frames of one running thread.
 *
 * A stack that changed during the read is only marked as torn, as dropping it would favour slow
 * code.
 */
#pragma once

#include "drain/python/code.h"

#define STACK_FRAMES 64

struct stack_frame {
	const struct code *code;
	int32_t line; /* 0: unknown */
};

struct stack {
	struct stack_frame frames[STACK_FRAMES]; /* innermost first */
	size_t depth;
	bool is_cut; /* outer frames are missing, because there were too many */
	/* the stack changed during the read, or frames may be missing */
	bool is_torn;
};

/* Reads a stack. `state` has the first bytes, just read, of the thread state at `address`. */
void stack_read(const struct memory *memory, const struct layout *layout, struct code_cache *codes,
		uint64_t address, const uint8_t *state, struct stack *ret);
