/* SPDX-License-Identifier: Apache-2.0 */
/*
 * period.h - do the events of a series (stalls, long steps, long loads) come every P batches?
 *
 * The row-folded test of analysis/README.md: false positives 0.004 % at alpha 1 % over 21 kinds of
 * series without a period, where autocorrelation, Fisher's g and Lomb-Scargle have 18 to 68 %.
 * Deterministic; O(n) plus a part that is bounded (2^20 values are folded at most).
 */
#pragma once

#include "analysis/period/events.h"

#define PERIOD_ALPHA 0.01
#define PERIOD_MOST  512 /* periods up to this have an entry in log_p_of */

struct period {
	int64_t batches;  /* 0: no period is significant */
	bool regular;     /* the share is large enough for a regular spike */
	double log_p;     /* ln p, corrected; 0 where nothing could be tested */
	double share;     /* share of the events' time that is at the phase, cross-validated */
	int64_t phase;    /* ordinal modulo `batches` */
	double cost_ns;   /* share x time in events */
	double events_ns; /* time in events */
	size_t event_count;
	size_t large_count; /* events of at least half of cap_ns (events.h) */
	double large_ns;
	bool gradual;  /* set by the caller, of loads: the loads around a slow one are slow too */
	bool drifting; /* found by regular gaps, not by a phase: there is no log_p */
	bool tested;   /* there were enough batches and events to test */
	float log_p_of[PERIOD_MOST + 1]; /* ln p by period; 0: that period was not folded */
};

/* 0 or -ENOMEM. */
int period_find(const struct events_query *query, struct period *ret);
