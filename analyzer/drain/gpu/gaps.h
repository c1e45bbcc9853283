/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps.h - when nothing is known of a process's GPU: it said so itself, or what it sent cannot be
 * believed.
 *
 * A record whose times cannot be has no time, and one that was lost has none either. Some of either
 * are only counted. Where they are more than GAPS_DOUBT of those of a second or so, that second is
 * a gap, and so is what came up to the first that is sound again: the rest would have the GPU idle
 * where it was not.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

#define GAPS_DOUBT  0.05
#define GAPS_MOST   64
#define GAPS_FEWEST 20 /* records that tell that all is well again */

enum gaps_kind {
	GAPS_TOLD,    /* by the process; what was missing may come late, and then it was none */
	GAPS_DOUBTED, /* by us */
	GAPS_KIND_MAX,
};

struct gap {
	int64_t begin_ns, end_ns;
};

struct gaps {
	int64_t known_ns;            /* all since then was taken */
	struct gap items[GAPS_MOST]; /* the last ones that are over */
	uint32_t count;
	int64_t open_ns[GAPS_KIND_MAX]; /* begin of one that is not; INT64_MAX: there is none */
	/* Since it was last told whether to believe them. */
	int64_t window_ns;
	uint64_t record_count, useless_count;
};

/* A row of the table, to be written: end_ns is GAPS_OPEN, or not after begin_ns if it was none. */
#define GAPS_OPEN INT64_MAX

void gaps_init(struct gaps *gaps, int64_t known_ns);

/* False: one of that kind is open already. */
bool gaps_begin(struct gaps *gaps, enum gaps_kind kind, int64_t begin_ns);

/* False: none is. */
bool gaps_end(struct gaps *gaps, enum gaps_kind kind, int64_t end_ns, struct gap *ret_gap);

/*
 * All up to when_ns was sent, and since the last such word these counts grew by so many. Returns
 * whether *ret_gap has begun or ended; *ret_why: of one that has begun.
 */
bool gaps_judge(struct gaps *gaps, int64_t when_ns, const struct dlprof_gpu_state *before,
		const struct dlprof_gpu_state *now, struct gap *ret_gap, const char **ret_why);

/* The time is known, but for what may still come of a gap that is open. */
bool gaps_spare(const struct gaps *gaps, int64_t begin_ns, int64_t end_ns);

/* It may turn out to be. */
bool gaps_may_spare(const struct gaps *gaps, int64_t end_ns);
