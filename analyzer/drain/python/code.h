/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - caches the code objects on a process's stacks: names, files and line tables.
 *
 * CPython reuses addresses, so an entry is used only while its code object's size and pointers are
 * unchanged. A known code object costs no system call, a new one two calls.
 */
#pragma once

#include <stdbool.h>

#include "drain/python/layout.h"

struct code {
	const char *name; /* since 3.11 with the class: "Loader.fetch" */
	const char *file; /* like `name` in UTF-8, cut if very long */
	int32_t first_line;
};

struct code_cache {
	struct code_entry *buckets[256];
	size_t count, bytes; /* all entries, and their bytes */
	uint64_t turn;       /* number of the current sample; its entries are not freed */
	uint64_t type;       /* address of CPython's type of code objects; 0: unknown */
	size_t hand;
	uint64_t missed; /* how often a code object was not in the cache, and was read */
	uint64_t reused; /* how often a cached address had become another code object's */
};

void code_done(struct code_cache *cache);

/* Begins the next turn. Results of code_get() from earlier turns may be freed from now on. */
void code_next_turn(struct code_cache *cache);

/* Returns the code object at `address`, whose `head` was just read; NULL: there is none. */
const struct code *code_get(struct code_cache *cache, const struct memory *memory,
			    const struct layout *layout, uint64_t address, const uint8_t *head);

/* Returns the line of the instruction at byte `offset`, or 0 if it has none. */
int32_t code_line(const struct code *code, const struct layout *layout, int64_t offset);
