/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - reads any bytes as UTF-8, one code point at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct utf8 {
	const char *bytes;
	size_t length;     /* 1 if they are not valid UTF-8 */
	uint32_t code;     /* U+FFFD if the bytes are not valid */
	bool valid;
};

/* Moves *text behind the code point. Returns false at the text's end. */
bool utf8_next(const char **text, struct utf8 *ret);

/* Returns false for controls, line ends, and direction overrides, which can disguise a text. */
bool utf8_is_printable(const struct utf8 *rune);

/* Returns 0, 1 or 2; 1 for controls and invalid bytes. */
int utf8_columns(const struct utf8 *rune);
