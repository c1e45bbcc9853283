/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.c - find the row of a function's name among the thousands of names that a module imports.
 *
 * Nearly all of them are of no interest, and their first bytes say so.
 */
#include <assert.h>
#include <string.h>

#include "decode/decode.h"
#include "slots/elf.h"

#define PLACE_COUNT  512 /* over twice the rows */
#define PREFIX_BYTES 6   /* "_ZN2cv", not "_ZN2at" or "_ZN2c1": most of torch begins so */
#define PREFIX_BITS  2048 /* few of the names that are none of ours pass */

uint32_t decode_hashes[DECODE_ROW_MAX];

static uint8_t places[PLACE_COUNT]; /* row + 1; 0: free */
static uint64_t prefixes[PREFIX_BITS / 64];
static bool ready;

static_assert(DECODE_ROW_MAX < UINT8_MAX && DECODE_ROW_MAX * 2 < PLACE_COUNT,
	      "it is a small table");

static uint32_t prefix_of(const char *name)
{
	uint32_t sum = 0;

	for (int i = 0; i < PREFIX_BYTES && name[i]; i++)
		sum = sum * 31 + (uint8_t)name[i];
	return (sum * 2654435761u) >> 21;
}

void decode_index(void)
{
	if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		return;
	for (uint32_t row = 0; row < DECODE_ROW_MAX; row++) {
		uint32_t prefix = prefix_of(decode_name(row));
		uint32_t hash = elf_hash(decode_name(row)), at = hash % PLACE_COUNT;

		decode_hashes[row] = hash;
		while (places[at] && places[at] != row + 1)
			at = (at + 1) % PLACE_COUNT;
		places[at] = (uint8_t)(row + 1);
		prefixes[prefix / 64] |= UINT64_C(1) << prefix % 64;
	}
	__atomic_store_n(&ready, true, __ATOMIC_RELEASE);
}

int decode_row_of(const char *name)
{
	uint32_t prefix = prefix_of(name), at;

	if (!(prefixes[prefix / 64] >> prefix % 64 & 1))
		return -1;
	for (at = elf_hash(name) % PLACE_COUNT; places[at]; at = (at + 1) % PLACE_COUNT)
		if (strcmp(decode_name(places[at] - 1), name) == 0)
			return places[at] - 1;
	return -1;
}
