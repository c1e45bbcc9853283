/* SPDX-License-Identifier: Apache-2.0 */
#include "render/form/utf8.h"

#include "dlprof/units.h"

static bool decode(const unsigned char *s, size_t length, uint32_t lowest, struct utf8 *ret)
{
	uint32_t code = s[0] & (0xff >> (length + 1));

	for (size_t i = 1; i < length; i++) {
		/* The terminating NUL is not a continuation byte, so the loop ends there. */
		if ((s[i] & 0xc0) != 0x80)
			return false;
		code = code << 6 | (s[i] & 0x3f);
	}
	/* Overlong forms, surrogates and numbers beyond Unicode are not valid. */
	if (code < lowest || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
		return false;
	ret->code = code;
	ret->length = length;
	return true;
}

bool utf8_next(const char **text, struct utf8 *ret)
{
	const unsigned char *s = (const unsigned char *)*text;

	if (!*s)
		return false;
	*ret = (struct utf8){.bytes = *text, .length = 1, .code = *s, .valid = true};
	if (*s >= 0x80) {
		if ((*s & 0xe0) == 0xc0)
			ret->valid = decode(s, 2, 0x80, ret);
		else if ((*s & 0xf0) == 0xe0)
			ret->valid = decode(s, 3, 0x800, ret);
		else if ((*s & 0xf8) == 0xf0)
			ret->valid = decode(s, 4, 0x10000, ret);
		else
			ret->valid = false;
	}
	if (!ret->valid)
		ret->code = 0xfffd;
	*text += ret->length;
	return true;
}

bool utf8_is_printable(const struct utf8 *rune)
{
	const uint32_t code = rune->code;

	return rune->valid && code >= 0x20 && !(code >= 0x7f && code < 0xa0) && code != 0x61c &&
	       !(code >= 0x200e && code <= 0x200f) && !(code >= 0x2028 && code <= 0x202e) &&
	       !(code >= 0x2066 && code <= 0x2069) && (code & 0xfffe) != 0xfffe &&
	       !(code >= 0xfdd0 && code <= 0xfdef);
}

int utf8_columns(const struct utf8 *rune)
{
	static const struct {
		uint32_t first, last;
		int columns;
	} ranges[] = {
		{0x0300, 0x036f, 0},                        /* combining marks */
		{0x1100, 0x115f, 2},                        /* Hangul */
		{0x200b, 0x200f, 0},                        /* zero width */
		{0x2e80, 0xa4cf, 2},                        /* CJK */
		{0xac00, 0xd7a3, 2},                        /* Hangul */
		{0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0}, /* variation selectors */
		{0xff00, 0xff60, 2},                        /* full width */
		{0x1f300, 0x1faff, 2},                      /* pictographs */
		{0x20000, 0x3fffd, 2},
	};

	for (size_t i = 0; i < ARRAY_COUNT(ranges); i++)
		if (rune->code >= ranges[i].first && rune->code <= ranges[i].last)
			return ranges[i].columns;
	return 1;
}
