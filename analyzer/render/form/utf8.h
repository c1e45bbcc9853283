/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - read text that may be anything as UTF-8, one code point at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct utf8 {
	const char *bytes; /* where it stands in the text */
	size_t length;     /* of it, in bytes; 1 where it is not valid */
	uint32_t code;     /* the code point; U+FFFD where it is not valid */
	bool valid;
};

/* Takes one code point off *text; false at its end. */
bool utf8_next(const char **text, struct utf8 *ret);

/* Not a control, which could move the cursor; nothing that ends a line or sets a direction, which
 * could show another text than there is; and a character at all. */
bool utf8_is_printable(const struct utf8 *rune);

/* Columns it takes on a terminal: 0, 1 or 2; what has no shape (controls, invalid) takes 1. */
int utf8_columns(const struct utf8 *rune);
