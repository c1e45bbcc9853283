/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - finds the events of a series, and numbers them by deliveries, recorded or not. */
#pragma once

#include "analysis/account/series.h"
#include "analysis/statistics/fold.h"

#define EVENTS_LISTED 4000 /* more events are not listed one by one */

struct events_query {
	const struct batch_series *series;
	const float *values;
	uint8_t mask, want; /* takes only batches with (state & mask) == want */
	double offset_ns;   /* normal part of each value; it is subtracted */
	double theta_ns;    /* least (value - offset_ns) of an event; must also be above 0 */
	bool from_start;    /* also takes the first W batches of each epoch */
	bool slips; /* records may be missing, as in logs: equal gaps count as a period, too */
	/* After one of these events, events may come in another phase. NULL: there are none. */
	const struct events_query *breaks;
};

struct event {
	size_t position;
	double ns;
};

struct events {
	size_t count;
	double ns;     /* sum over the events, without offset_ns */
	double cap_ns; /* events of this length or longer have half of `ns` */
	size_t position_count;
	struct event *list; /* NULL if there are more than EVENTS_LISTED */
	/* Epochs without their first W batches. Each may have a phase of its own. */
	struct fold_segment *epochs;
	size_t epoch_count;
	size_t first_ordinal; /* ordinal of the first batch of epochs[0] */
};

/* Finds the events; call events_done() also after an error. */
int events_find(const struct events_query *query, struct events *ret);
void events_done(struct events *events);

/* Fills ret_ns[count] from position `from` on: the event's time at each position, or 0. */
void events_spread(const struct events_query *query, size_t from, size_t count, float *ret_ns);

/* Cuts `whole` after each break, and returns the number of segments. *at is the next break. */
size_t events_cut(const struct events *breaks, const struct fold_segment *whole, size_t position,
		  size_t *at, struct fold_segment *ret);

/*
 * Finds the period above `above` that is most significant; *ret_period is 0 without one. *ret_log_p
 * is ln p, corrected for `most` periods. `capped`: events count by time, up to cap_ns; else as 1.
 */
int events_long_period(const struct events *events, const struct fold_segment *segments,
		       size_t segment_count, bool capped, size_t above, size_t most,
		       size_t *ret_period, double *ret_log_p);

/*
 * Gaps, in batches, between large events (cap_ns / 2 or more). Lost records hardly change `mode`.
 */
struct event_gaps {
	size_t large_count;
	double large_ns;
	size_t gap_count;
	double cv;
	size_t mode; /* most frequent gap; the shortest if several are as frequent */
};

int events_gaps(const struct events *events, struct event_gaps *ret);

/*
 * Returns the share of the time in the best phase. Even rows choose it for odd rows, and odd for
 * even.
 */
double events_share(const struct events *events, size_t period, size_t block_rows,
		    size_t *ret_phase);

/* A timer causes the events if at least TIMER_LEAST gaps vary by at most 10 % (CV). */
#define TIMER_LEAST 8 /* fewer gaps show no timer */

struct timer {
	double period_ns; /* mean gap; NAN: there is no timer */
	double cv;
	size_t gap_count;
};

void events_find_timer(const struct events_query *query, struct timer *ret);
