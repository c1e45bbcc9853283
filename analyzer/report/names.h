/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - files in a folder whose names end in a suffix, except hidden ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAMES_RUN  ".db"
#define NAMES_PART ".part"

struct names {
	char **list; /* sorted paths */
	size_t count;
};

/* Whether a name or path such as "folder/run.db" ends in the suffix. */
bool names_ends(const char *name, const char *suffix);

/* 0 or -errno; names_done() in either case. */
int names_list(const char *folder, const char *suffix, struct names *ret);
void names_done(struct names *names);
