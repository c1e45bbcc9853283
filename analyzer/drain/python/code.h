/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - the code objects of a process that were seen on stacks: their names, files and lines.
 *
 * A code object is known by its address as long as its size and what it points to stay the same:
 * CPython makes another one at the address of one that was freed. A stranger's first look at it
 * takes two system calls, all others none beside the one that reads its head.
 */
#pragma once

#include <stdbool.h>

#include "drain/python/layout.h"

struct code {
	const char *name; /* with its class from 3.11 on: "Loader.fetch" */
	const char *file; /* both UTF-8, and cut where they are very long */
	int32_t first_line;
};

struct code_cache {
	struct code_entry *buckets[256];
	size_t count, bytes; /* of what is kept */
	uint64_t turn;       /* what was used in this one stays */
	uint64_t type;       /* the address of CPython's type of code objects; 0: not seen yet */
	size_t hand;
	uint64_t missed; /* looks that had to read more */
	uint64_t reused; /* ... because other code lay there before */
};

void code_done(struct code_cache *cache);

/* What was given out before may go from now on. */
void code_next_turn(struct code_cache *cache);

/*
 * `head`: the first code_bytes of the object at `address`, just read. NULL: it is no code object,
 * or not any more. What is returned lasts until the next turn.
 */
const struct code *code_get(struct code_cache *cache, const struct memory *memory,
			    const struct layout *layout, uint64_t address, const uint8_t *head);

/* The line of the instruction that begins so many bytes after the first; 0: it has none. */
int32_t code_line(const struct code *code, const struct layout *layout, int64_t offset);
