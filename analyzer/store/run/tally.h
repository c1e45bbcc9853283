/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - reads totals by name: decoders, steps, files, folders, samples, waits of loads. They
 * are of the whole run, whatever loader. Functions return 0 or a negative errno (db.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/database/db.h"

/* A row of the view of that kind; schema.sql has what its columns mean. */
struct tally {
	char name[160];		/* name of a library, a step, a path, another side of a wait */
	char detail[64];	/* format; "dataset" or "transform"; dataset of a sample;
				 * kind of a wait */
	int64_t class;		/* width class; index of a sample */
	int64_t count, ns, bytes, pixels, slowest_ns, error_ns;
};

struct tally_list {
	struct tally *items;	/* the longest first */
	size_t count;
	size_t all_count;	/* entries that there are, listed or not */
};

/*
 * Reads `most` or fewer of a kind ("decode", "step", "file", "folder", "sample", "wait"). Free it.
 */
int tally_list_read(struct db *db, const char *kind, size_t most, struct tally_list *ret_list);
void tally_list_done(struct tally_list *list);

/* The most time that an unlisted entry of a kind may have taken. */
int tally_unlisted_read(struct db *db, const char *kind, int64_t *ret_ns);

/* Sums over all loads of the run, by what was timed in each. */
struct tally_loads {
	int64_t count, load_ns, open_ns, read_ns, collate_ns, blocked_ns;
};

int tally_loads_read(struct db *db, struct tally_loads *ret_loads);

/* The slowest single operations that were kept. */
struct slow_call {
	char what[96];		/* function and file */
	char stack[2048];	/* one line for each frame; empty: no stack was kept */
	int64_t ns;
};

/* Reads at most `most` of them, the slowest first; free *ret_calls. */
int slow_calls_read(struct db *db, size_t most, struct slow_call **ret_calls, size_t *ret_count);
