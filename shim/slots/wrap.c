/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.c - find the row of a function's name among the thousands of names that a module imports.
 *
 * Nearly all of them are of no interest, and their first bytes say so.
 */
#include <assert.h>
#include <string.h>

#include "slots/elf.h"
#include "slots/wrap.h"

#define PLACE_COUNT  512 /* over twice the rows */
#define PREFIX_BYTES 6   /* "_ZN2cv", not "_ZN2at" or "_ZN2c1": most of torch begins so */
#define PREFIX_BITS  2048 /* few of the names that are none of ours pass */

struct wrap_row wrap_rows[WRAP_ROW_MAX];
int wrap_row_count;

static uint8_t places[PLACE_COUNT]; /* row + 1; 0: free */
static uint64_t prefixes[PREFIX_BITS / 64];
static bool ready;

static_assert(WRAP_ROW_MAX < UINT8_MAX && WRAP_ROW_MAX * 2 < PLACE_COUNT, "it is a small table");

static uint32_t prefix_of(const char *name)
{
	uint32_t sum = 0;

	for (int i = 0; i < PREFIX_BYTES && name[i]; i++)
		sum = sum * 31 + (uint8_t)name[i];
	return (sum * 2654435761u) >> 21;
}

static void add_row(const struct wrap_set *set, int entry)
{
	const char *name = set->names + set->entries[entry].name;
	uint32_t prefix = prefix_of(name), hash = elf_hash(name), at = hash % PLACE_COUNT;

	wrap_rows[wrap_row_count++] = (struct wrap_row){
		.name = name,
		.set = set,
		.library = &set->libraries[set->entries[entry].library],
		.targets = set->targets[entry],
		.hash = hash,
		.entry = entry,
	};
	while (places[at])
		at = (at + 1) % PLACE_COUNT;
	places[at] = (uint8_t)wrap_row_count;
	prefixes[prefix / 64] |= UINT64_C(1) << prefix % 64;
}

void wrap_index(void)
{
	if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		return;
	for (const struct wrap_set *const *set = wrap_sets; *set; set++)
		for (int i = 0; i < (*set)->count && wrap_row_count < WRAP_ROW_MAX; i++)
			add_row(*set, i);
	__atomic_store_n(&ready, true, __ATOMIC_RELEASE);
}

int wrap_row_of(const char *name)
{
	uint32_t prefix = prefix_of(name), at;

	if (!(prefixes[prefix / 64] >> prefix % 64 & 1))
		return -1;
	for (at = elf_hash(name) % PLACE_COUNT; places[at]; at = (at + 1) % PLACE_COUNT)
		if (strcmp(wrap_rows[places[at] - 1].name, name) == 0)
			return places[at] - 1;
	return -1;
}
