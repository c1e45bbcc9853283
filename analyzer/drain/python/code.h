/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - caches the code objects on a process's stacks: names, files and line tables.
 *
 * A cached code object counts as the same while its size and pointers at its address are unchanged,
 * as CPython reuses the addresses of freed ones. A new code object costs two system calls, a known
 * one none, beside reading its header.
 */
#pragma once

#include <stdbool.h>

#include "drain/python/layout.h"

struct code {
	const char *name; /* name, since 3.11 with its class: "Loader.fetch" */
	const char *file; /* file; like `name` UTF-8, and cut if very long */
	int32_t first_line;
};

struct code_cache {
	struct code_entry *buckets[256];
	size_t count, bytes; /* number and bytes of all entries */
	uint64_t turn;       /* number of the turn; entries used in it are not freed */
	uint64_t type;       /* address of CPython's type of code objects; 0: not found yet */
	size_t hand;
	uint64_t missed; /* times that a code object had to be read */
	uint64_t reused; /* times that another code object was at the address */
};

void code_done(struct code_cache *cache);

/* Begins a turn: results of code_get() from earlier turns may be freed from now on. */
void code_next_turn(struct code_cache *cache);

/*
 * Returns the code object at `address`, of which `head` has the first code_bytes, just read.
 * Returns NULL if that is no code object, or no longer. The result is valid until the next turn.
 */
const struct code *code_get(struct code_cache *cache, const struct memory *memory,
			    const struct layout *layout, uint64_t address, const uint8_t *head);

/* Returns the line of the instruction at `offset` bytes behind the first; 0: it has none. */
int32_t code_line(const struct code *code, const struct layout *layout, int64_t offset);
