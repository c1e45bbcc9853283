/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - lists a folder's files whose names end in a suffix, without hidden ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAMES_RUN  ".db"
#define NAMES_PART ".part"

struct names {
	char **list;
	size_t count;
};

/* Returns true if a name or path ends in `suffix`, and does not consist of it. */
bool names_ends(const char *name, const char *suffix);

/* Lists paths, sorted by name. Returns 0 or -errno; call names_done() in both cases. */
int names_list(const char *folder, const char *suffix, struct names *ret);
void names_done(struct names *names);
