/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen_stacks.h - the different stacks that samples had: each is kept once, by a number, and gets
 * its name in the database when it is written first. Both frames and stacks are bounded.
 */
#pragma once

#include <stdint.h>

#include "drain/python/stack.h"
#include "store/write/write.h"

#define SEEN_NONE UINT32_MAX

struct seen_stacks;

int seen_open(struct seen_stacks **ret);
void seen_close(struct seen_stacks *seen);

/*
 * The number of a stack. Frames below a worker's or a thread's entry are left out: they are of the
 * process that forked it, or of Python's own. Of a stack that there is no more room for, the
 * innermost frames are kept as far as they are known; SEEN_NONE: none of them is.
 */
uint32_t seen_stack(struct seen_stacks *seen, const struct stack *stack);

/* Its frames' ids in the database, the innermost first; lasts until the next call. 0 or -errno. */
int seen_text(struct seen_stacks *seen, uint32_t stack, struct writer *writer, const char **ret);

/* The ids may not be in the database after all, or it is another one. */
void seen_forget_ids(struct seen_stacks *seen);
