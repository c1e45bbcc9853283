/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - calls the caller with each row of an SQL statement of its own about a run's events.
 * Functions return 0, a negative errno, or the result that ended them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/database/run.h"

/*
 * Makes two more tables for the statements:
 *
 * - `delivered`: t_batch without batches that were never delivered; a number that is negative, or
 *   none, is NULL; `place` is the order of delivery in an epoch.
 * - `part`: the batches to show, as ranges of tasks; empty at first.
 *
 * Also adds as_it_is(TEXT), redact_call(), redact_mark() and redact_text(): each text that becomes
 * part of a row must go through one of these.
 */
int timeline_begin(struct db *db);

/* The `worst` longest waits (-1: all), each with `before` batches before and `behind` after. */
struct timeline_worst {
	int64_t worst, before, behind;
};

/* Runs a statement that adds to `part`. Returns 1 if it added some, 0 if none, or -errno. */
int timeline_add_part(struct db *db, const char *sql, const struct batch_filter *filter,
		      const struct timeline_worst *worst);

struct timeline_event {
	const char *lane; /* NULL: the event is in no lane */
	int64_t at;       /* position of its lane among the lanes */
	const char *kind; /* one of the kinds listed in trace.sql */
	int64_t begin_ns; /* UNKNOWN: none; also for `ns` */
	int64_t ns;
	const char *members; /* members of a JSON object: name, arguments */
};

/* `is_whole` is ?1. Strings live until `row` returns. */
int timeline_events(struct db *db, const char *sql, bool is_whole,
		    int (*row)(const struct timeline_event *event, void *context), void *context);
