/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/python/lines.h"

/* in 3.10, a line step of -128 means that the instructions have no line */
#define NO_LINE_10 -128

/* Since 3.11: the kinds of entries that change the line. Entries of other kinds do not. */
enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NO_LINE = 15 };

static int32_t checked(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
}

/* CPython 3.8 and 3.9: the table has pairs of steps, in bytes of instructions and in lines. */
static int32_t find_8(const struct lines *lines, int64_t offset)
{
	int64_t line = lines->first, at = 0;

	for (size_t i = 0; i + 1 < lines->size; i += 2) {
		at += lines->table[i];
		if (at > offset)
			break;
		line += (int8_t)lines->table[i + 1];
	}
	return checked(line);
}

/* CPython 3.10: the table has pairs of a range's length in bytes and a step in lines. */
static int32_t find_10(const struct lines *lines, int64_t offset)
{
	int64_t line = lines->first, end = 0;

	for (size_t i = 0; i + 1 < lines->size; i += 2) {
		const int8_t more = (int8_t)lines->table[i + 1];

		line += more == NO_LINE_10 ? 0 : more;
		end += lines->table[i];
		if (offset < end)
			return more == NO_LINE_10 ? 0 : checked(line);
	}
	return 0;
}

/* Reads a number: six bits of it in each byte, the lowest first. Its lowest bit is the sign. */
static int32_t take_signed(const struct lines *lines, size_t *at)
{
	uint32_t value = 0;

	for (unsigned int shift = 0; *at < lines->size && shift < 32; shift += 6) {
		const uint8_t byte = lines->table[(*at)++];

		value |= (uint32_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40))
			break;
	}
	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/* Since CPython 3.11: an entry has several bytes, and only its first has the highest bit set. */
static int32_t find_11(const struct lines *lines, int64_t offset)
{
	int64_t line = lines->first, end = 0;
	size_t at = 0;

	while (at < lines->size) {
		const uint8_t first = lines->table[at++];
		const int kind = first >> 3 & 15;

		if (kind == LONG || kind == NO_COLUMNS)
			line += take_signed(lines, &at);
		else if (kind >= ONE_LINE_0 && kind <= ONE_LINE_2)
			line += kind - ONE_LINE_0;
		while (at < lines->size && !(lines->table[at] & 0x80))
			at++;
		end += ((first & 7) + 1) * 2;
		if (offset < end)
			return kind == NO_LINE ? 0 : checked(line);
	}
	return 0;
}

int32_t lines_at(const struct lines *lines, int64_t offset)
{
	/* A frame that has not begun counts as being at its first instruction. */
	if (offset < 0)
		offset = 0;
	if (lines->minor < 10)
		return find_8(lines, offset);
	return lines->minor == 10 ? find_10(lines, offset) : find_11(lines, offset);
}
