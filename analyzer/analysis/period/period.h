/* SPDX-License-Identifier: Apache-2.0 */
/*
 * period.h - finds out whether stalls, long steps or long loads come every P batches.
 *
 * analysis/README.md has the formulas. At most 2^20 values are tested in rows, so the time is O(n).
 */
#pragma once

#include "analysis/period/events.h"

#define PERIOD_ALPHA 0.01
#define PERIOD_MOST  512

struct period {
	int64_t batches; /* length of the period; 0: none is significant */
	bool regular;    /* `share` is large enough: events mostly come at one phase */
	double log_p;    /* ln p, corrected for all periods tried; 0: nothing was tested */
	double share;    /* share of the events' time at `phase`, cross-validated */
	int64_t phase;   /* ordinal modulo `batches` that has most of the events' time */
	double cost_ns;
	double events_ns;
	size_t event_count;
	size_t large_count; /* number of events of at least half of cap_ns (events.h) */
	double large_ns;
	bool gradual; /* set by the caller: loads before or after a slow load are slow, too */
	bool drifting; /* found by equal gaps of events whose phase drifts, and not by log_p */
	bool tested;
	float log_p_of[PERIOD_MOST + 1]; /* ln p of each period; 0: the period was not tested */
};

int period_find(const struct events_query *query, struct period *ret);
