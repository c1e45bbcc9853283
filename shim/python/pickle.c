/* SPDX-License-Identifier: Apache-2.0 */
/* pickle.c - what the first bytes of a pickle say, protocols 2 to 5. */
#include <string.h>

#include "python/pipes.h"

#define PROTO    0x80
#define FRAME    0x95
#define LIST     ']'
#define NONE     'N'
#define STOP     '.'
#define TUPLE2   0x86
#define PASSED   "_IterableDatasetStopIteration"
#define LOOK_MAX 256 /* bytes in which PASSED's name must come */

/* A non-negative int at `at`; bytes that it takes, or 0. */
static size_t number_at(const uint8_t *at, size_t size, uint32_t *ret_number)
{
	if (size >= 2 && at[0] == 'K') {
		*ret_number = at[1];
		return 2;
	}
	if (size >= 3 && at[0] == 'M') {
		*ret_number = at[1] | (uint32_t)at[2] << 8;
		return 3;
	}
	if (size >= 5 && at[0] == 'J' && at[4] < 0x80) {
		*ret_number = at[1] | (uint32_t)at[2] << 8 | (uint32_t)at[3] << 16 |
			      (uint32_t)at[4] << 24;
		return 5;
	}
	return 0;
}

enum pipes_message pipes_parse(const uint8_t *bytes, size_t size, uint32_t *ret_number)
{
	const uint8_t *at = bytes, *end = bytes + size;
	uint32_t second;
	size_t length;

	if (size < 4 || at[0] != PROTO || at[1] < 2 || at[1] > 5)
		return PIPES_OTHER;
	at += 2;
	if (end - at > 9 && at[0] == FRAME)
		at += 9;
	if (at[0] == NONE && at[1] == STOP)
		return PIPES_NONE;
	length = number_at(at, (size_t)(end - at), ret_number);
	if (!length || end - at < (ptrdiff_t)length + 2)
		return PIPES_OTHER;
	at += length;
	if (at[0] == LIST)
		return PIPES_INDEX;
	length = number_at(at, (size_t)(end - at), &second);
	if (length && end - at > (ptrdiff_t)length && at[length] == TUPLE2)
		return PIPES_INDEX;
	if (memmem(at, (size_t)(end - at) < LOOK_MAX ? (size_t)(end - at) : LOOK_MAX, PASSED,
		   sizeof(PASSED) - 1))
		return PIPES_PASSED;
	return PIPES_NUMBER;
}
