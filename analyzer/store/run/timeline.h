/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - what happened when, beside batches: one row after the other in the order of time,
 * none of which is kept. Functions return 0, a negative errno (db.h), or what stopped them.
 */
#pragma once

#include <stdint.h>

#include "store/database/run.h"

enum timeline_kind {
	TIMELINE_EPOCH, /* an iterator was made; `pid` is its loader, `tid` its epoch */
	TIMELINE_SLOW,  /* a slow operation */
	TIMELINE_GAP,   /* the GPU was not recorded */
	TIMELINE_MARK,  /* dlprof_mark() */
	TIMELINE_RANGE, /* of NVTX; an outer one comes before those in it */
	TIMELINE_MAX
};

/* Strings are valid until the function that is called returns; they may be NULL. */
struct timeline_event {
	enum timeline_kind kind;
	int64_t begin_ns, ns, pid, tid;
	const char *class, *what;
};

/* Every event of that kind. */
int timeline_events(struct db *db, enum timeline_kind kind,
		    int (*row)(const struct timeline_event *event, void *context), void *context);
