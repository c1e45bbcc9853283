/* SPDX-License-Identifier: Apache-2.0 */
/* rank_job.h - what is kept of the ranks of a job, and what rank.h and culprit.h make of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/stall.h"
#include "analysis/window.h"

#define RANK_WINDOWS 8 /* fewer, of several steps, show nothing: their ends weigh too much */

enum rank_alignment { RANK_BY_STEP, RANK_BY_CLOCK, RANK_ALONE, RANK_ALIGNMENTS };

struct rank_blame {
	double wait_ns;    /* of the job, for which the rank is to blame */
	double starved_ns; /* of it, in steps in which a batch of the rank's was not there */
	double saved_ns;   /* at most, what the job would gain if its batches were ready */
	size_t step_count; /* steps that it is to blame for */
};

struct rank_job {
	struct windows by_step, by_clock; /* the latter of bins of time */
	struct rank_base {
		int32_t epoch;
		size_t base, length;
	} * epochs;
	size_t epoch_count;
	int64_t origin_ns, bin_ns, step_ns;
	size_t rank_count;
	float *period_ns; /* of each rank: how long its loader takes a batch; 0: not known */
	size_t batch_count;
	size_t known_count;      /* ranks whose account is known */
	double wait_ns, time_ns; /* of their accounts */
};

/* Where the next epoch begins. No window straddles two: a part of the job may have others. */
static inline size_t rank_behind(const struct rank_base *epoch)
{
	const size_t widest = (size_t)1 << (WINDOW_WIDTHS - 1);

	return epoch->base + (epoch->length + widest - 1) / widest * widest;
}

/* What the job as a whole did. */
struct rank_finding {
	enum rank_alignment alignment;
	enum stall_verdict verdict;
	bool starved;
	double stall_ratio;   /* NAN: nothing is known */
	double trimmed_ratio; /* without the largest half percent: one event makes no culprit */
	double wait_ns;       /* that the job lost, at most; the mean of the ranks where alone */
	bool is_exact;        /* not at most: steps are longer by what is waited in them */
	int32_t hidden;       /* this one starves most, and no step is longer for it; -1: none */
	double time_ns;
	int width;          /* steps after which the ranks meet, at most; 0: not by step */
	double lag;         /* by step; NAN: no rank starved */
	int32_t culprit;    /* as rank_add() numbers them, from 0; -1: none alone */
	double blame_share; /* of the culprit, or the largest; NAN: nothing was lost */
	size_t step_count;
};
