/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - reads the Python frames of one running thread.
 *
 * A stack that changed during the read is marked as torn, but kept: fast code changes more often,
 * so without torn stacks slow code would get too large a share.
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
	/* the stack changed during the read, so frames may be missing */
	bool is_torn;
};

/* Reads a stack. `state`: the first bytes of the thread state at `address`, just read. */
void stack_read(const struct memory *memory, const struct layout *layout, struct code_cache *codes,
		uint64_t address, const uint8_t *state, struct stack *ret);
