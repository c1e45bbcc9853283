/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps.h - keeps the times (gaps) in which it is unknown what a process's GPUs did.
 *
 * While lost operations ran, or those with impossible times, the GPU would seem idle. So if such
 * operations are more than GAPS_DOUBT of a second's records, a gap begins with that second. It ends
 * with the next second that has few of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

#define GAPS_DOUBT  0.05
#define GAPS_MOST   64
#define GAPS_FEWEST 20 /* a second with fewer records is not judged: too few to tell */

enum gaps_kind {
	GAPS_TOLD,    /* the process reported the gap; records that come late may undo it */
	GAPS_DOUBTED, /* the drain found too many lost or impossible records */
	GAPS_BARE,    /* records of copies and waits come, but none of kernels */
	GAPS_KIND_MAX,
};

struct gap {
	int64_t begin_ns, end_ns;
};

struct gaps {
	int64_t known_ns; /* nothing is known before this time */
	struct gap items[GAPS_MOST];
	uint32_t count;
	int64_t open_ns[GAPS_KIND_MAX]; /* start of each kind's open gap; GAPS_OPEN: none */
	/* counts since the last call of gaps_judge() */
	int64_t window_ns;
	uint64_t record_count, useless_count;
};

/* end_ns of a gap that has not ended */
#define GAPS_OPEN INT64_MAX

void gaps_init(struct gaps *gaps, int64_t known_ns);

bool gaps_begin(struct gaps *gaps, enum gaps_kind kind, int64_t begin_ns);

/* Ends the open gap; false: none is open. A gap that ends no later than it began is not kept. */
bool gaps_end(struct gaps *gaps, enum gaps_kind kind, int64_t end_ns, struct gap *ret_gap);

/* Judges the records since the last call. Returns true if *ret_gap begins or ends at when_ns. */
bool gaps_judge(struct gaps *gaps, int64_t when_ns, const struct dlprof_gpu_state *before,
		const struct dlprof_gpu_state *now, struct gap *ret_gap, const char **ret_why);

/* Returns true if no gap known so far overlaps [begin_ns, end_ns). */
bool gaps_spare(const struct gaps *gaps, int64_t begin_ns, int64_t end_ns);

/* Returns true if a GAPS_TOLD gap, open since before `end_ns`, may still be undone. */
bool gaps_may_spare(const struct gaps *gaps, int64_t end_ns);
