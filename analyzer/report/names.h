/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - the files of a kind in a folder: by how their names end, and none that is hidden. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAMES_RUN  ".db"
#define NAMES_PART ".part"

struct names {
	char **list; /* paths, in their order */
	size_t count;
};

/* "run.db", "folder/run.db" */
bool names_ends(const char *name, const char *suffix);

/* 0 or -errno; names_done() in either case. */
int names_list(const char *folder, const char *suffix, struct names *ret);
void names_done(struct names *names);
