/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - totals by name, asked of a database: decoders, steps, files, folders, samples,
 * waits of loads.
 *
 * They are of the whole run, whatever loader. Functions return 0 or a negative errno (db.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/database/db.h"

/* See the views of the same names in schema.sql. */
struct tally {
	char name[160];		/* library, step, path, other side */
	char detail[64];	/* format; "dataset" or "transform"; dataset of a sample;
				 * kind of a wait */
	int64_t class;		/* width class; index of a sample */
	int64_t count, ns, bytes, pixels, slowest_ns, error_ns;
};

struct tally_list {
	struct tally *items;	/* the longest first */
	size_t count;
	size_t all_count;	/* that there are, listed or not */
};

/* At most `most` of a kind ("decode", "step", "file", "folder", "sample", "wait"). To be freed. */
int tally_list_read(struct db *db, const char *kind, size_t most, struct tally_list *ret_list);
void tally_list_done(struct tally_list *list);

/* No unlisted entry of a kind took more than this. */
int tally_unlisted_read(struct db *db, const char *kind, int64_t *ret_ns);

/* Where the time of all loads of the run went, by what was timed in each. */
struct tally_loads {
	int64_t count, load_ns, open_ns, read_ns, collate_ns, blocked_ns;
};

int tally_loads_read(struct db *db, struct tally_loads *ret_loads);

/* The slowest single operations that were kept. */
struct slow_call {
	char what[96];		/* function and file */
	char stack[2048];	/* one line a frame; empty: not kept */
	int64_t ns;
};

/* At most `most`, the slowest first; *ret_calls is to be freed. */
int slow_calls_read(struct db *db, size_t most, struct slow_call **ret_calls, size_t *ret_count);
