/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps.h - keeps the times (gaps) in which it is unknown what a process's GPUs did.
 *
 * Nobody knows when lost operations, or those with impossible times, ran. If they are more than
 * GAPS_DOUBT of a second's records, a gap begins with that second and ends with the next sound one.
 * Without the gap, the GPU would seem idle.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

#define GAPS_DOUBT  0.05
#define GAPS_MOST   64
#define GAPS_FEWEST 20 /* a second with fewer records is not judged */

enum gaps_kind {
	GAPS_TOLD,    /* the process reported the gap; late records may undo it */
	GAPS_DOUBTED, /* the drain found too many lost or impossible records */
	GAPS_KIND_MAX,
};

struct gap {
	int64_t begin_ns, end_ns;
};

struct gaps {
	int64_t known_ns; /* what ran before this time is unknown */
	struct gap items[GAPS_MOST];
	uint32_t count;
	int64_t open_ns[GAPS_KIND_MAX]; /* start of each kind's open gap; GAPS_OPEN: none */
	/* counts since the last call of gaps_judge() */
	int64_t window_ns;
	uint64_t record_count, useless_count;
};

/* end_ns of an open gap */
#define GAPS_OPEN INT64_MAX

void gaps_init(struct gaps *gaps, int64_t known_ns);

bool gaps_begin(struct gaps *gaps, enum gaps_kind kind, int64_t begin_ns);

/* Ends the open gap; false: none is open. A gap that ends at or before its start is ignored. */
bool gaps_end(struct gaps *gaps, enum gaps_kind kind, int64_t end_ns, struct gap *ret_gap);

/* Judges records since the last call, up to when_ns. Returns true if *ret_gap begins or ends. */
bool gaps_judge(struct gaps *gaps, int64_t when_ns, const struct dlprof_gpu_state *before,
		const struct dlprof_gpu_state *now, struct gap *ret_gap, const char **ret_why);

/* Returns true if no gap that is known so far overlaps [begin_ns, end_ns). */
bool gaps_spare(const struct gaps *gaps, int64_t begin_ns, int64_t end_ns);

/* Returns true if an open GAPS_TOLD gap began before `end_ns`: late records may still undo it. */
bool gaps_may_spare(const struct gaps *gaps, int64_t end_ns);
