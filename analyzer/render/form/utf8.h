/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - read any text as UTF-8, one code point at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct utf8 {
	const char *bytes; /* its place in the text */
	size_t length;     /* its bytes; 1 if it is not valid */
	uint32_t code;     /* code point; U+FFFD if it is not valid */
	bool valid;
};

/* Takes one code point off *text; false at its end. */
bool utf8_next(const char **text, struct utf8 *ret);

/*
 * Whether it is a character other than a control, which could move the cursor, a line's end, or an
 * override of direction, which could show another text.
 */
bool utf8_is_printable(const struct utf8 *rune);

/* Its columns on a terminal: 0, 1 or 2; without a shape (controls, invalid bytes) 1. */
int utf8_columns(const struct utf8 *rune);
