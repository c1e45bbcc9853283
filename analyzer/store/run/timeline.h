/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - runs the caller's SQL statements about a run's events, and calls `row` for each row.
 * If `row` returns other than 0, the function ends and returns that. Else it returns 0 or -errno.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/database/run.h"

/*
 * Makes two tables for the caller's statements:
 *
 * - `delivered`: t_batch, but only batches that were delivered. A value that is negative or no
 *   number is NULL. `place` sorts an epoch's batches by delivery.
 * - `part`: the batches to show, as ranges of tasks; empty at first.
 *
 * Also adds the functions as_it_is(TEXT), redact_call(), redact_mark() and redact_text(). Each text
 * that gets into a row must go through one of them.
 */
int timeline_begin(struct db *db);

/* Which batches to show: the `worst` longest waits (-1: all batches), and neighbours of each. */
struct timeline_worst {
	int64_t worst, before, behind;
};

/* Runs a statement that adds rows to `part`. Returns 1 if it added any, 0 if none, or -errno. */
int timeline_add_part(struct db *db, const char *sql, const struct batch_filter *filter,
		      const struct timeline_worst *worst);

struct timeline_event {
	const char *lane; /* NULL: the event is in no lane */
	int64_t at;       /* position of `lane` among the lanes */
	const char *kind; /* one of the kinds listed in trace.sql */
	int64_t begin_ns; /* UNKNOWN: the event has no time */
	int64_t ns;       /* UNKNOWN: the event has no length */
	const char *members; /* the name and arguments, as members of a JSON object */
};

/* Calls `row` for each row of `sql`; ?1 is `is_whole`. Strings are valid until `row` returns. */
int timeline_events(struct db *db, const char *sql, bool is_whole,
		    int (*row)(const struct timeline_event *event, void *context), void *context);
