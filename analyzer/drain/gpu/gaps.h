/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps.h - the times in which a process's GPU work is unknown: the process said so, or its records
 * cannot be believed.
 *
 * Lost records, and records with impossible times, cannot be placed in time; a few of them are only
 * counted. If they are more than GAPS_DOUBT of the records of about a second, that second becomes a
 * gap, and so does all time until the first sound second: with the remaining records alone, the GPU
 * would seem idle where it was busy.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

#define GAPS_DOUBT  0.05
#define GAPS_MOST   64
#define GAPS_FEWEST 20 /* with fewer records no second is judged sound */

enum gaps_kind {
	GAPS_TOLD,    /* the process said so; records that come late may undo it */
	GAPS_DOUBTED, /* the drain found it, as records cannot be believed */
	GAPS_KIND_MAX,
};

struct gap {
	int64_t begin_ns, end_ns;
};

struct gaps {
	int64_t known_ns;            /* all records from this time on were taken */
	struct gap items[GAPS_MOST]; /* the newest gaps that have ended */
	uint32_t count;
	int64_t open_ns[GAPS_KIND_MAX]; /* begin of a gap that has not ended; INT64_MAX: none */
	/* Counts since gaps_judge() last judged: */
	int64_t window_ns;
	uint64_t record_count, useless_count;
};

/* `end_ns` of a gap that has not ended. A gap that ends at or before its begin is ignored. */
#define GAPS_OPEN INT64_MAX

void gaps_init(struct gaps *gaps, int64_t known_ns);

/* Begins a gap. Returns false if one of this kind is open already. */
bool gaps_begin(struct gaps *gaps, enum gaps_kind kind, int64_t begin_ns);

/* Ends the open gap of this kind. Returns false if there is none. */
bool gaps_end(struct gaps *gaps, enum gaps_kind kind, int64_t end_ns, struct gap *ret_gap);

/*
 * Judges the records up to when_ns, which were all sent, by the growth of the counts since the last
 * call. Returns true if *ret_gap has begun or ended; *ret_why says why it has begun.
 */
bool gaps_judge(struct gaps *gaps, int64_t when_ns, const struct dlprof_gpu_state *before,
		const struct dlprof_gpu_state *now, struct gap *ret_gap, const char **ret_why);

/* Whether a time lies outside of all gaps that are known by now. */
bool gaps_spare(const struct gaps *gaps, int64_t begin_ns, int64_t end_ns);

/* Whether a gap that began before `end_ns` and is open may still prove to be none. */
bool gaps_may_spare(const struct gaps *gaps, int64_t end_ns);
