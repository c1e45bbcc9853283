/* SPDX-License-Identifier: Apache-2.0 */
/* near.h - "did you mean": finds the name nearest to a mistyped word. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NEAR_WORDS 80

struct near {
	const char *word;
	size_t length;
	const char *name; /* the nearest name of those tried; NULL: none */
	size_t distance;
};

void near_try(struct near *near, const char *name);

/* Writes "; did you mean --json?", with `before` "--" before the name; "" if no name is near. */
const char *near_words(const struct near *near, const char *before, char text[NEAR_WORDS]);
