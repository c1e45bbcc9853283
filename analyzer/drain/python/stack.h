/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - reads the Python frames of one thread, which may run on meanwhile.
 *
 * A stack that changed during the read is not dropped, only marked as torn: its frames may be of
 * two moments. Dropping such stacks would prefer slow code, and falsify shares.
 */
#pragma once

#include "drain/python/code.h"

#define STACK_FRAMES 64

struct stack_frame {
	const struct code *code;
	int32_t line; /* 0: not known */
};

struct stack {
	struct stack_frame frames[STACK_FRAMES]; /* innermost first */
	size_t depth;
	bool is_cut;  /* outer frames are missing, as there were too many */
	/* it changed meanwhile, or frames may be missing */
	bool is_torn;
};

/* Reads a thread's stack; `state` is the begin of its thread state at `address`, just read. */
void stack_read(const struct memory *memory, const struct layout *layout, struct code_cache *codes,
		uint64_t address, const uint8_t *state, struct stack *ret);
