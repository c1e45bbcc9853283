/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - caches the code objects on a process's stacks: names, files and line tables.
 *
 * CPython reuses addresses. So an entry counts only while the size and pointers of its code object
 * are unchanged. A cached code object costs no system call, a new one two.
 */
#pragma once

#include <stdbool.h>

#include "drain/python/layout.h"

struct code {
	const char *name; /* since 3.11 with the name of the class: "Loader.fetch" */
	const char *file; /* in UTF-8 like `name`, and cut if very long */
	int32_t first_line;
};

struct code_cache {
	struct code_entry *buckets[256];
	size_t count, bytes; /* number of entries, and their size */
	uint64_t turn;       /* number of the current sample, whose entries must not be freed */
	uint64_t type;       /* address of CPython's type of code objects; 0: unknown */
	size_t hand;
	uint64_t missed; /* how often a code object was not in the cache */
	uint64_t reused; /* how often a cached address had another code object */
};

void code_done(struct code_cache *cache);

/* Begins the next turn, and may free results that code_get() returned in earlier turns. */
void code_next_turn(struct code_cache *cache);

/* Returns the code object at `address`; NULL: there is none. `head`: its first bytes, just read. */
const struct code *code_get(struct code_cache *cache, const struct memory *memory,
			    const struct layout *layout, uint64_t address, const uint8_t *head);

/* Returns the line of the instruction at byte `offset`, or 0 if it has none. */
int32_t code_line(const struct code *code, const struct layout *layout, int64_t offset);
