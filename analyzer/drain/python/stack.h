/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - the Python frames of one thread, which may run on meanwhile.
 *
 * A stack is never dropped because it moved: samples that are kept only where it stood still are
 * those of slow code, and falsify shares. It is marked as torn: its frames may be of two moments.
 */
#pragma once

#include "drain/python/code.h"

#define STACK_FRAMES 64

struct stack_frame {
	const struct code *code;
	int32_t line; /* 0: not known */
};

struct stack {
	struct stack_frame frames[STACK_FRAMES]; /* the innermost first */
	size_t depth;
	bool is_cut;  /* there are more, further out */
	bool is_torn; /* it moved meanwhile, or what was read is no frame: there may be more */
};

/* `state`: thread_bytes of the thread's state at `address`, just read. */
void stack_read(const struct memory *memory, const struct layout *layout, struct code_cache *codes,
		uint64_t address, const uint8_t *state, struct stack *ret);
