/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - the events of a series on an index without gaps, which the period test searches.
 *
 * Positions count deliveries from the first epoch on; a delivery without a record has a position,
 * but no event.
 */
#pragma once

#include "analysis/account/series.h"
#include "analysis/statistics/fold.h"

#define EVENTS_LISTED 4000 /* events that are kept one by one */

/* Which values of a series are events. */
struct events_query {
	const struct batch_series *series;
	const float *values; /* a column of it */
	uint8_t mask, want;  /* which batches to look at, by their state */
	double offset_ns;    /* the normal part of a value */
	double theta_ns;     /* an event: value - offset is at least this, and above 0 */
	bool from_start;     /* includes the first round of each epoch */
	bool slips;          /* log lines may be missing: regular gaps count as a period, too */
	/* Events after which the phase may change; NULL: none. */
	const struct events_query *breaks;
};

struct event {
	size_t position;
	double ns;
};

struct events {
	size_t count;
	double ns;     /* sum over the events */
	double cap_ns; /* half of the sum is in events of at least this */
	size_t position_count;
	struct event *list; /* NULL where there are more than EVENTS_LISTED */
	/* Epochs without their first round; a phase may restart with each. */
	struct fold_segment *epochs;
	size_t epoch_count;
	size_t first_ordinal; /* ordinal at which the first epoch's segment begins */
};

/* Counts and lists the events. 0 or -ENOMEM; call events_done() in either case. */
int events_find(const struct events_query *query, struct events *ret);
void events_done(struct events *events);

/* Writes `count` positions from `from` on as a dense array: the event's time, or 0. */
void events_spread(const struct events_query *query, size_t from, size_t count, float *ret_ns);

/*
 * Cuts a segment behind each listed break in it, and returns the number of pieces. `position` is
 * that of the segment's first value; `*at` is the first break that may lie in it, and is moved on
 * for the segment that follows.
 */
size_t events_cut(const struct events *breaks, const struct fold_segment *whole, size_t position,
		  size_t *at, struct fold_segment *ret);

/*
 * Searches long periods among the distances between listed events. *ret_log_p is ln p of the best,
 * corrected for all periods up to `most`; *ret_period is 0 if there is none. `capped`: an event
 * counts by its time, at most cap_ns; else each counts as one. Periods up to `above` are left to
 * the fold. 0 or -ENOMEM.
 */
int events_long_period(const struct events *events, const struct fold_segment *segments,
		       size_t segment_count, bool capped, size_t above, size_t most,
		       size_t *ret_period, double *ret_log_p);

/*
 * Gaps in batches between large events, which have half of cap_ns or more. They show a timer in
 * logs that miss lines now and then, so that no phase lasts.
 */
struct event_gaps {
	size_t large_count;
	double large_ns; /* sum over the large events */
	size_t gap_count;
	double cv;   /* coefficient of variation of the gaps; NAN: too few */
	size_t mode; /* the most frequent gap, the shortest of equals */
};

/* 0 or -ENOMEM. */
int events_gaps(const struct events *events, struct event_gaps *ret);

/*
 * Share of the listed events' time at the dominant phase, which in each block of rows is chosen on
 * the even rows and measured on the odd ones, and the other way round. *ret_phase: of all rows.
 */
double events_share(const struct events *events, size_t period, size_t block_rows,
		    size_t *ret_phase);

/* Events that come by the clock: at least 8 gaps whose coefficient of variation is at most .10. */
#define TIMER_LEAST 8 /* gaps */

struct timer {
	double period_ns; /* mean gap; NAN: no timer */
	double cv;
	size_t gap_count;
};

void events_find_timer(const struct events_query *query, struct timer *ret);
