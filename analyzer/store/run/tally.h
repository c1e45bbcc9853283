/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - reads totals by name over the whole run: of decoders, files, samples, waits, ... */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/database/db.h"

/* A row; schema.sql explains the columns. */
struct tally {
	char name[160]; /* name of a library or step, a path, or the peer of a wait */
	/* format of a decoder; "dataset" or "transform"; dataset of a sample; kind of a wait */
	char detail[64];
	int64_t class; /* width class (0: no image), or index of the sample */
	int64_t count, ns, bytes;
	int64_t pixels; /* of a decoder with width class 0: bytes that it made */
	int64_t slowest_ns, error_ns;
};

struct tally_list {
	struct tally *items;
	size_t count;
	size_t all_count; /* number of rows, also of those not listed */
};

/* Lists the `most` largest rows of a kind, such as "file". Call tally_list_done() afterwards. */
int tally_list_read(struct db *db, const char *kind, size_t most, struct tally_list *ret_list);
void tally_list_done(struct tally_list *list);

int tally_unlisted_read(struct db *db, const char *kind, int64_t *ret_ns);

struct slow_call {
	char what[96];    /* function, and file that was read or opened */
	char stack[2048]; /* a line for each frame; "": no stack was stored */
	int64_t ns;
};

/* Lists slow calls, the slowest first. Free *ret_calls. */
int slow_calls_read(struct db *db, size_t most, struct slow_call **ret_calls, size_t *ret_count);
