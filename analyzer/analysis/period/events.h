/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - the events of a series on an index without gaps, in which periods are searched for.
 *
 * Positions count deliveries from the first epoch on; a delivery without a record has a position,
 * but no event.
 */
#pragma once

#include "analysis/account/series.h"
#include "analysis/statistics/fold.h"

#define EVENTS_LISTED 4000 /* most events that are listed one by one */

/* Selects the values of a series that are events. */
struct events_query {
	const struct batch_series *series;
	const float *values; /* a column of the series */
	uint8_t mask, want;  /* only batches whose state & mask is `want` */
	double offset_ns;    /* normal part of each value, which is subtracted */
	double theta_ns;     /* an event's value - offset_ns is at least this, and above 0 */
	bool from_start;     /* also looks at the first round of each epoch */
	bool slips;    /* records may be missing, as in logs: regular gaps count as a period, too */
	/* Selects events after which the phase may change; NULL: none. */
	const struct events_query *breaks;
};

struct event {
	size_t position;
	double ns;
};

struct events {
	size_t count;
	double ns;     /* sum over the events, each less offset_ns */
	double cap_ns; /* half of `ns` is in events of at least this length */
	size_t position_count;
	struct event *list; /* NULL if there are more than EVENTS_LISTED */
	/* Epochs without their first round; a phase may begin anew in each. */
	struct fold_segment *epochs;
	size_t epoch_count;
	size_t first_ordinal; /* ordinal of the first batch of epochs[0] */
};

/* Counts and lists the events. Returns 0 or -ENOMEM; call events_done() in both cases. */
int events_find(const struct events_query *query, struct events *ret);
void events_done(struct events *events);

/* Writes `count` positions from `from` on to ret_ns: the event's time, or 0. */
void events_spread(const struct events_query *query, size_t from, size_t count, float *ret_ns);

/*
 * Cuts a segment after each listed break in it, and returns the number of pieces. `position` is
 * that of the segment's first value; `*at` is the index of the first break that may lie in the
 * segment, and is moved on for the next segment.
 */
size_t events_cut(const struct events *breaks, const struct fold_segment *whole, size_t position,
		  size_t *at, struct fold_segment *ret);

/*
 * Searches for a long period among the distances between listed events. *ret_log_p is ln p of the
 * best, corrected for all periods up to `most`; *ret_period is 0 if there is none. If `capped`, an
 * event counts by its time, at most cap_ns; else each counts as one. Periods up to `above` are left
 * out, since folding tests them. Returns 0 or -ENOMEM.
 */
int events_long_period(const struct events *events, const struct fold_segment *segments,
		       size_t segment_count, bool capped, size_t above, size_t most,
		       size_t *ret_period, double *ret_log_p);

/*
 * Gaps in batches between large events: those of half of cap_ns or more. Regular gaps show a timer
 * in logs in which lines are missing, so that no phase lasts.
 */
struct event_gaps {
	size_t large_count;
	double large_ns; /* sum over the large events */
	size_t gap_count;
	double cv;   /* coefficient of variation of the gaps; NAN: too few gaps */
	size_t mode; /* most frequent gap; the shortest of equally frequent ones */
};

/* Measures the gaps. Returns 0 or -ENOMEM. */
int events_gaps(const struct events *events, struct event_gaps *ret);

/*
 * Returns the share of the listed events' time at the dominant phase. Each block of rows has it
 * chosen on the even rows and measured on the odd ones, and the other way round. *ret_phase is the
 * dominant phase of all rows.
 */
double events_share(const struct events *events, size_t period, size_t block_rows,
		    size_t *ret_phase);

/* A timer's events: at least 8 gaps whose coefficient of variation is at most .10. */
#define TIMER_LEAST 8 /* least number of gaps */

struct timer {
	double period_ns; /* mean gap; NAN: there is no timer */
	double cv;
	size_t gap_count;
};

void events_find_timer(const struct events_query *query, struct timer *ret);
