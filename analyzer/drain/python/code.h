/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - the code objects that were seen on a process's stacks: names, files and lines.
 *
 * A code object is known by its address while its size and what it points to stay the same, as
 * CPython reuses the addresses of freed ones. The first look at one takes two system calls, later
 * ones none beside reading its head.
 */
#pragma once

#include <stdbool.h>

#include "drain/python/layout.h"

struct code {
	const char *name; /* name, from 3.11 on with its class: "Loader.fetch" */
	const char *file; /* name and file are UTF-8, and cut where they are very long */
	int32_t first_line;
};

struct code_cache {
	struct code_entry *buckets[256];
	size_t count, bytes; /* number and size of all that is kept */
	uint64_t turn;       /* what was used in this turn is not freed */
	uint64_t type;       /* address of CPython's type of code objects; 0: not seen yet */
	size_t hand;
	uint64_t missed; /* looks that had to read a code object */
	uint64_t reused; /* looks that found other code at the address */
};

void code_done(struct code_cache *cache);

/* Begins a turn: what was given out before may be freed from now on. */
void code_next_turn(struct code_cache *cache);

/*
 * The code object at `address`, of which `head` has the first code_bytes, just read. NULL: it is
 * none, or no longer. The result lasts until the next turn.
 */
const struct code *code_get(struct code_cache *cache, const struct memory *memory,
			    const struct layout *layout, uint64_t address, const uint8_t *head);

/* The line of the instruction so many bytes behind the first; 0: it has none. */
int32_t code_line(const struct code *code, const struct layout *layout, int64_t offset);
