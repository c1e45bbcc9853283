/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - finds large values (events), and how many batches were delivered before each. */
#pragma once

#include "analysis/account/series.h"
#include "analysis/statistics/fold.h"

#define EVENTS_LISTED 4000 /* events are listed one by one only if there are at most this many */

struct events_query {
	const struct batch_series *series;
	const float *values;
	uint8_t mask; /* takes only batches whose state has all of these bits */
	double offset_ns;   /* normal size of a value, which is subtracted from each */
	double theta_ns;    /* an event's (value - offset_ns) is at least this, and above 0 */
	bool from_start;    /* also takes the first W batches of each epoch */
	bool slips;         /* missing records shift the phase, so equal gaps count as a period */
	/* Breaks: events after which this query's events may change their phase. NULL: none. */
	const struct events_query *breaks;
};

struct event {
	size_t position;
	double ns;
};

struct events {
	size_t count;
	double ns;     /* sum of (value - offset_ns) over the events */
	double cap_ns; /* half of `ns` is in events of this length or longer */
	size_t position_count;
	struct event *list; /* NULL: there are more than EVENTS_LISTED */
	/* epochs without their first W batches; the phase may differ from epoch to epoch */
	struct fold_segment *epochs;
	size_t epoch_count;
	size_t first_ordinal; /* ordinal of the first batch of epochs[0] */
};

/* Finds the events. Call events_done() afterwards, also after an error. */
int events_find(const struct events_query *query, struct events *ret);
void events_done(struct events *events);

/* Sets ret_ns[i], i < count, to the time of the event at position from + i, or to 0. */
void events_spread(const struct events_query *query, size_t from, size_t count, float *ret_ns);

/* Cuts a segment after each break in it, from break *at on. Returns the number of pieces. */
size_t events_cut(const struct events *breaks, const struct fold_segment *whole, size_t position,
		  size_t *at, struct fold_segment *ret);

/*
 * Finds the most significant period in (above, most]; 0: none. *ret_log_p is ln p, corrected for
 * `most` tried periods. If `capped`, an event weighs its time, up to cap_ns; else each weighs 1.
 */
int events_long_period(const struct events *events, const struct fold_segment *segments,
		       size_t segment_count, bool capped, size_t above, size_t most,
		       size_t *ret_period, double *ret_log_p);

/* Gaps between large events (cap_ns / 2 or more), in batches. Lost records hardly change `mode`. */
struct event_gaps {
	size_t large_count;
	double large_ns;
	size_t gap_count;
	double cv;
	size_t mode; /* most frequent gap; the shortest if several are as frequent */
};

int events_gaps(const struct events *events, struct event_gaps *ret);

/* Returns the share of the events' time at the best phase, cross-validated as by phase_share(). */
double events_share(const struct events *events, size_t period, size_t block_rows,
		    size_t *ret_phase);

/* A timer causes the events if there are TIMER_LEAST gaps or more, whose CV is at most 10 %. */
#define TIMER_LEAST 8

struct timer {
	double period_ns; /* mean time between the events; NAN: no timer causes them */
	double cv;
	size_t gap_count;
};

void events_find_timer(const struct events_query *query, struct timer *ret);
