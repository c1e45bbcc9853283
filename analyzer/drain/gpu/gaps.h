/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps.h - the times for which a process's GPU is unknown: the process said so, or what it sent
 * cannot be believed.
 *
 * Records with impossible times have no time, nor have lost ones; a few of them are only counted.
 * Where they are more than GAPS_DOUBT of those of about a second, that second is a gap, and so is
 * all time until the first second that is sound: other records alone would let the GPU idle where
 * it did not.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

#define GAPS_DOUBT  0.05
#define GAPS_MOST   64
#define GAPS_FEWEST 20 /* records that show that a second is sound */

enum gaps_kind {
	GAPS_TOLD,    /* told by the process; missing records may come late and undo it */
	GAPS_DOUBTED, /* found by us */
	GAPS_KIND_MAX,
};

struct gap {
	int64_t begin_ns, end_ns;
};

struct gaps {
	int64_t known_ns;            /* all records since then were taken */
	struct gap items[GAPS_MOST]; /* the last gaps that are over */
	uint32_t count;
	int64_t open_ns[GAPS_KIND_MAX]; /* begin of a gap that is not over; INT64_MAX: there is
					 * none */
	/* Counts since the last judgement whether gaps are to be believed: */
	int64_t window_ns;
	uint64_t record_count, useless_count;
};

/* end_ns of a gap that is not over. A gap that ends at or before its begin was none. */
#define GAPS_OPEN INT64_MAX

void gaps_init(struct gaps *gaps, int64_t known_ns);

/* Begins a gap. False: one of that kind is open already. */
bool gaps_begin(struct gaps *gaps, enum gaps_kind kind, int64_t begin_ns);

/* Ends the open gap. False: there is none of that kind. */
bool gaps_end(struct gaps *gaps, enum gaps_kind kind, int64_t end_ns, struct gap *ret_gap);

/*
 * Judges the records up to when_ns, which were all sent, by the growth of the counts since the last
 * call. Returns whether *ret_gap has begun or ended; *ret_why says why it has begun.
 */
bool gaps_judge(struct gaps *gaps, int64_t when_ns, const struct dlprof_gpu_state *before,
		const struct dlprof_gpu_state *now, struct gap *ret_gap, const char **ret_why);

/* Whether a time lies outside of all gaps, as far as is known by now. */
bool gaps_spare(const struct gaps *gaps, int64_t begin_ns, int64_t end_ns);

/* Whether an open gap before this time may turn out to be none. */
bool gaps_may_spare(const struct gaps *gaps, int64_t end_ns);
