/* SPDX-License-Identifier: Apache-2.0 */
/* near.h - "did you mean": of several names, the one that a mistyped word stands for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NEAR_WORDS 80

struct near {
	const char *word;
	size_t length;
	const char *name; /* the nearest name so far; NULL: none is near */
	size_t distance;
};

void near_try(struct near *near, const char *name);

/* "; did you mean --json?" with "--" as `before`; "" if no name is near. Returns `text`. */
const char *near_words(const struct near *near, const char *before, char text[NEAR_WORDS]);
