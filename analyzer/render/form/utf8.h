/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - reads any bytes as UTF-8, one code point at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct utf8 {
	const char *bytes;
	size_t length;     /* 1 if the bytes are not valid UTF-8 */
	uint32_t code;     /* U+FFFD if the bytes are not valid */
	bool valid;
};

/* Reads a code point and moves *text behind it. Returns false at the text's end. */
bool utf8_next(const char **text, struct utf8 *ret);

/* Returns false for controls, line ends, and direction overrides, which can disguise a text. */
bool utf8_is_printable(const struct utf8 *rune);

/* Returns how many columns a terminal uses: 0, 1 or 2. Controls and invalid bytes use 1. */
int utf8_columns(const struct utf8 *rune);
