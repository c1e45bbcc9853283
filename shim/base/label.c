/* SPDX-License-Identifier: Apache-2.0 */
#include "base/label.h"

#include <string.h>

#include "base/text.h"
#include "dlprof/units.h"

/* Cuts no UTF-8 character in two: bytes 10xxxxxx continue a character. */
void label_copy(char *label, const char *text)
{
	size_t length = text ? strnlen(text, LABEL_BYTES) : 0;

	if (length == LABEL_BYTES)
		for (length--; length && ((unsigned char)text[length] & 0xc0) == 0x80; length--)
			continue;
	memcpy(label, text ? text : "", length);
	memset(label + length, 0, LABEL_BYTES - length);
}

static bool ends_with(char *text, size_t length, const char *end)
{
	const size_t size = strlen(end);

	if (length < size || memcmp(text + length - size, end, size) != 0)
		return false;
	text[length - size] = '\0';
	return true;
}

static bool is_named_step(const char *label)
{
	static const char *const before[] = {"training", "trainer", "train", "global",
					     "profiler", "main",    "loop",  "epoch"};
	char letters[LABEL_BYTES], *rest = letters;
	size_t count = 0;

	for (; *label && count < sizeof(letters) - 1; label++)
		if (text_is_letter(*label))
			letters[count++] = (char)(*label | 0x20);
	if (!ends_with(letters, count, "step") && !ends_with(letters, count, "iteration") &&
	    !ends_with(letters, count, "iter"))
		return false;
	for (size_t i = 0; *rest && i < ARRAY_COUNT(before);)
		if (strncmp(rest, before[i], strlen(before[i])) == 0) {
			rest += strlen(before[i]);
			i = 0;
		} else {
			i++;
		}
	return !*rest;
}

static bool is_wanted(const char *label, const char *wanted)
{
	size_t length = strlen(wanted);

	if (strncmp(label, wanted, length) != 0)
		return false;
	for (label += length; *label; label++)
		if (text_is_letter(*label))
			return false;
	return true;
}

bool label_is_step(const char *label, const char *wanted)
{
	return wanted ? is_wanted(label, wanted) : is_named_step(label);
}
