/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - reads any bytes as UTF-8, one code point at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct utf8 {
	const char *bytes; /* where the code point begins in the text */
	size_t length;     /* number of bytes; 1 if they are not valid UTF-8 */
	uint32_t code;     /* the code point; U+FFFD if the bytes are not valid */
	bool valid;
};

/* Reads a code point and moves *text behind it. Returns false at the text's end. */
bool utf8_next(const char **text, struct utf8 *ret);

/*
 * Returns false for control characters, which could move the cursor; line ends; and direction
 * overrides, which could make a text look like another one.
 */
bool utf8_is_printable(const struct utf8 *rune);

/* Returns how many columns of a terminal it takes: 0, 1 or 2; 1 for controls and invalid bytes. */
int utf8_columns(const struct utf8 *rune);
