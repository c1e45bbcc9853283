/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen_stacks.h - the different stacks of all samples: each is kept once, under a number, and gets
 * its ids in the database when it is first written. Frames and stacks are bounded.
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
 * The number of a stack. Frames outside of a worker's or thread's entry function are left out: they
 * belong to the process that forked it, or to Python. Without room for more, the innermost known
 * frames are kept; SEEN_NONE: there are none.
 */
uint32_t seen_stack(struct seen_stacks *seen, const struct stack *stack);

/* The ids of its frames in the database, innermost first, until the next call. 0 or -errno. */
int seen_text(struct seen_stacks *seen, uint32_t stack, struct writer *writer, const char **ret);

/* Forgets the ids: they may not be in the database, or it is another database. */
void seen_forget_ids(struct seen_stacks *seen);
