/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen_stacks.h - stores each different stack of all samples once, under a number. A stack gets its
 * database ids when it is first written. The numbers of frames and stacks are limited.
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
 * Returns the number of a stack. Frames outside of a worker's or thread's entry function are left
 * out: they belong to the process that forked it, or to Python. If there is no room for a new
 * frame, only the frames inside of it are kept. Returns SEEN_NONE if none is left.
 */
uint32_t seen_stack(struct seen_stacks *seen, const struct stack *stack);

/* Writes to *ret the database ids of a stack's frames, innermost first, until the next call. */
int seen_text(struct seen_stacks *seen, uint32_t stack, struct writer *writer, const char **ret);

/* Forgets the database ids, which may not be committed, or be of another database. */
void seen_forget_ids(struct seen_stacks *seen);
