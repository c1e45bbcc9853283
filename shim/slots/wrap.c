/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.c - finds the row of a function's name, mostly excluded by its first bytes. */
#include "slots/wrap.h"

#include <assert.h>

#include "slots/elf.h"

#define PLACE_COUNT 512

struct wrap_row wrap_rows[WRAP_ROW_MAX];
int wrap_row_count;
uint64_t wrap_begins[(1 << WRAP_BEGIN_BITS) / 64];

static uint8_t places[PLACE_COUNT]; /* row + 1; 0: free */
static bool ready;

static_assert(WRAP_ROW_MAX < UINT8_MAX && WRAP_ROW_MAX * 2 < PLACE_COUNT, "it is a small table");

static void add_row(const struct wrap_set *set, int entry)
{
	const struct wrap_library *library = &set->libraries[set->entries[entry].library];
	const char *name = set->names + set->entries[entry].name;
	uint32_t hash = elf_hash(name), at = hash % PLACE_COUNT, begin;
	uint64_t bytes = 0;

	wrap_rows[wrap_row_count++] = (struct wrap_row){
		.name = name,
		.set = set,
		.library = library,
		.hash = hash,
		.mark_hash = library->mark ? elf_hash(library->mark) : 0,
		.entry = entry,
	};
	while (places[at])
		at = (at + 1) % PLACE_COUNT;
	places[at] = (uint8_t)wrap_row_count;
	memcpy(&bytes, name, WRAP_BEGIN_BYTES);
	begin = wrap_begin(bytes);
	wrap_begins[begin / 64] |= UINT64_C(1) << begin % 64;
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
	for (uint32_t at = elf_hash(name) % PLACE_COUNT; places[at]; at = (at + 1) % PLACE_COUNT)
		if (strcmp(wrap_rows[places[at] - 1].name, name) == 0)
			return places[at] - 1;
	return -1;
}
