/* SPDX-License-Identifier: Apache-2.0 */
/* seen_stacks.h - stores each different stack once, under a number. */
#pragma once

#include <stdint.h>

#include "drain/python/stack.h"
#include "store/write/write.h"

#define SEEN_NONE UINT32_MAX

struct seen_stacks;

int seen_open(struct seen_stacks **ret);
void seen_close(struct seen_stacks *seen);

/* Returns a stack's number, or SEEN_NONE. Frames outside of a thread's first function are cut. */
uint32_t seen_stack(struct seen_stacks *seen, const struct stack *stack);

/* Writes the frames. *ret, valid until the next call, lists their database ids, innermost first. */
int seen_text(struct seen_stacks *seen, uint32_t stack, struct writer *writer, const char **ret);

/* Forgets the database ids: after a rollback, or in another database, they do not exist. */
void seen_forget_ids(struct seen_stacks *seen);
