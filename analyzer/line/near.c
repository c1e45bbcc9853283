/* SPDX-License-Identifier: Apache-2.0 */
#include "line/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 40 /* no name of ours is longer */
#define FEWEST  3  /* letters that say what was meant when the rest is left out */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool is_same(char a, char b)
{
	if (a == '-')
		a = '_';
	if (b == '-')
		b = '_';
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * Letters that were left out, added, mistaken or swapped with their neighbour, each once
 * (Damerau; the restricted distance). Three rows of the table are enough.
 */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][LONGEST + 1], i, k;

	for (k = 0; k <= b_length; k++)
		rows[0][k] = k;
	for (i = 1; i <= a_length; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *over = rows[(i + 1) % 3];

		row[0] = i;
		for (k = 1; k <= b_length; k++) {
			row[k] = least(least(above[k], row[k - 1]) + 1,
				       above[k - 1] + !is_same(a[i - 1], b[k - 1]));
			if (i > 1 && k > 1 && is_same(a[i - 1], b[k - 2]) &&
			    is_same(a[i - 2], b[k - 1]))
				row[k] = least(row[k], over[k - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

static bool is_beginning(const struct near *near, const char *name)
{
	for (size_t i = 0; i < near->length; i++)
		if (!name[i] || !is_same(near->word[i], name[i]))
			return false;
	return near->length >= FEWEST;
}

struct near near_begin(const char *word, size_t length)
{
	return (struct near){.word = word, .length = length, .distance = SIZE_MAX};
}

void near_try(struct near *near, const char *name)
{
	size_t length = strlen(name), far;

	if (!near->length || near->length > LONGEST || !length || length > LONGEST)
		return;
	far = distance(near->word, near->length, name, length);
	/* One letter of three may be wrong: more is another word. */
	if (far > length / 3 && is_beginning(near, name))
		far = length / 3;
	if (far < near->distance && far <= length / 3 && far < near->length) {
		near->distance = far;
		near->name = name;
	}
}

const char *near_words(const struct near *near, const char *before, char *text, size_t size)
{
	*text = '\0';
	if (near->name)
		snprintf(text, size, "; did you mean %s%s?", before, near->name);
	return text;
}
