/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - hands the events of a run to the caller one after the other, as rows of its own
 * statement; none is stored. Functions return 0, a negative errno (db.h), or what ended them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/database/run.h"

/*
 * Lets statements read, besides the tables of the file,
 *   delivered  t_batch without what was never delivered; a number that is below zero, or is none,
 *              is NULL; `place` is the order of delivery in an epoch
 *   part       the batches that are shown: ranges of tasks; it is empty
 * and call as_it_is(TEXT), redact_call(), redact_mark() and redact_text(): each text that becomes
 * a part of a row goes through one of these.
 */
int timeline_begin(struct db *db);

/* The `worst` longest waits (-1: all), with `before` batches before and `behind` after each. */
struct timeline_worst {
	int64_t worst, before, behind;
};

/*
 * Runs a statement that adds batches of a loader to `part`; trace_part.sql names its parameters.
 * Returns 1 if it added some, 0 if not, or -errno.
 */
int timeline_add_part(struct db *db, const char *sql, const struct batch_filter *filter,
		      const struct timeline_worst *worst);

struct timeline_event {
	const char *lane;    /* name of the event's lane; NULL: it has none */
	int64_t at;          /* place of its lane among the lanes */
	const char *kind;    /* one of the kinds listed in trace.sql */
	int64_t begin_ns;    /* begin; UNKNOWN: none, also for `ns` */
	int64_t ns;
	const char *members; /* members of a JSON object: name, arguments */
};

/* Calls `row` for each row of `sql`, whose ?1 is `is_whole`. Strings live until `row` returns. */
int timeline_events(struct db *db, const char *sql, bool is_whole,
		    int (*row)(const struct timeline_event *event, void *context), void *context);
