/* SPDX-License-Identifier: Apache-2.0 */
#include "line/near.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 40 /* longer words are not compared, since all names are shorter */
#define FEWEST  3  /* a word of at least 3 letters may be the start of a name */

static bool is_same(char a, char b)
{
	return a == b || tolower((unsigned char)a) == tolower((unsigned char)b) ||
	       (strchr("-_", a) && strchr("-_", b));
}

/* Returns Damerau's distance: how many letters are left out, added, wrong or swapped. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t table[LONGEST + 1][LONGEST + 1], i, k;

	for (i = 0; i <= a_length; i++)
		for (k = 0; k <= b_length; k++) {
			size_t best = i && k ? table[i - 1][k - 1] + !is_same(a[i - 1], b[k - 1])
					     : i + k;

			if (i && table[i - 1][k] + 1 < best)
				best = table[i - 1][k] + 1;
			if (k && table[i][k - 1] + 1 < best)
				best = table[i][k - 1] + 1;
			if (i > 1 && k > 1 && is_same(a[i - 1], b[k - 2]) &&
			    is_same(a[i - 2], b[k - 1]) && table[i - 2][k - 2] + 1 < best)
				best = table[i - 2][k - 2] + 1;
			table[i][k] = best;
		}
	return table[a_length][b_length];
}

void near_try(struct near *near, const char *name)
{
	size_t length = strlen(name), far, same = 0;

	if (!near->length || near->length > LONGEST || !length || length > LONGEST)
		return;
	far = distance(near->word, near->length, name, length);
	while (same < near->length && same < length && is_same(near->word[same], name[same]))
		same++;
	/* A word that begins a name is near, unless the name is at least three times as long. */
	if (far > length / 3 && same == near->length && same >= FEWEST)
		far = length / 3;
	if ((!near->name || far < near->distance) && far <= length / 3 && far < near->length) {
		near->distance = far;
		near->name = name;
	}
}

const char *near_words(const struct near *near, const char *before, char text[NEAR_WORDS])
{
	*text = '\0';
	if (near->name)
		snprintf(text, NEAR_WORDS, "; did you mean %s%s?", before, near->name);
	return text;
}
