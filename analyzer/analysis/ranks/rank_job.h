/* SPDX-License-Identifier: Apache-2.0 */
/* rank_job.h - what is kept of the ranks of a job, and what rank.h and culprit.h make of it. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/stall.h"
#include "analysis/ranks/window.h"

#define RANK_WINDOWS 8 /* fewer, of several steps, show nothing: their ends weigh too much */

#define RANK_GROUPS 64 /* at most */

/* How fast a rank goes, from its begin to its end. */
#define PACE_CELLS 64

/* All zero has no steps. Partials hold it as it is. */
struct pace {
	float cells[PACE_CELLS]; /* how long 1 << shift steps took, in ns */
	uint32_t shift, count;
	float rest_ns; /* of fewer steps */
	uint32_t rest;
};

static inline size_t pace_steps(const struct pace *pace)
{
	return ((size_t)pace->count << pace->shift) + pace->rest;
}

enum rank_alignment { RANK_BY_STEP, RANK_BY_CLOCK, RANK_ALONE, RANK_ALIGNMENTS };

/* When an epoch's first batch was asked for, on a clock that the ranks share. */
struct rank_epoch {
	int32_t epoch;
	int64_t begin_ns;
};

/* Begin of one of the epochs, which ascend; NAN where the clock is not known. */
static inline double rank_epoch_begin(const struct rank_epoch *epochs, size_t count, int32_t epoch)
{
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (epochs[middle].epoch < epoch)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && epochs[low].epoch == epoch ? (double)epochs[low].begin_ns : NAN;
}

/* Where a rank begins and ends. Partials hold it as it is. */
struct rank_place {
	double begin_ns, end_ns; /* of its first and last step, on a clock that the ranks share;
				    NAN: not known */
	int32_t epoch, batch;    /* the first one; batch < 0: it has none */
};

struct rank_blame {
	int32_t group;     /* of the job's; -1: it has none */
	double wait_ns;    /* of the job, for which the rank is to blame */
	double starved_ns; /* of it, in steps in which a batch of the rank's was not there */
	double saved_ns;   /* at most, what the job would gain if its batches were ready */
	size_t step_count; /* steps that it is to blame for */
	bool is_culprit;
};

/* Ranks that go as fast as each other. There are more of them than are said in the end. */
struct rank_group {
	struct windows by_step;
	struct rank_sums {        /* partials hold it as it is */
		struct pace pace; /* of the first of them */
		uint64_t rank_count, batch_count;
		uint64_t known_count;    /* ranks whose account is known */
		double wait_ns, time_ns; /* of their accounts */
	} sums;
};

struct rank_job {
	struct rank_group *groups;
	size_t group_count;
	struct windows by_clock; /* of all ranks, and of bins of time */
	struct rank_base {       /* partials hold it as it is */
		int64_t epoch;
		size_t base, length;
	} * epochs;
	size_t epoch_count;
	int64_t origin_ns, bin_ns, step_ns;
	size_t rank_count;
	struct rank_member {
		float period_ns; /* how long its loader takes a batch; 0: not known */
		float wait_ns;
		float starved_ns; /* of it, for batches that were not there */
		int32_t group;
		struct rank_place place;
	} * members; /* each rank */
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
	int width;            /* steps after which the ranks meet, at most; 0: not by step */
	double lag;           /* by step; NAN: no rank starved */
	int32_t culprit;      /* as rank_add() numbers them, from 0; -1: none alone */
	size_t culprit_count; /* several may be to blame together: rank_blame has which */
	double saved_ns;      /* if the batches of all these were ready: the best guess, ... */
	double gain_least, gain_most; /* ... and the factors on speed between which it lies */
	double blame_share;           /* of the culprits, or the largest; NAN: nothing was lost */
	size_t step_count;
	size_t shifted_count; /* ranks whose first batch has another number, ... */
	int32_t shifted;      /* ... the first of them: steps may be aligned wrongly */
	double apart_ns;      /* by so much a rank's clock seems to differ; 0: none does */
	/* Where not all ranks wait for each other: those that do. The rest of this is of `group`.
	 */
	struct rank_part {
		double stall_ratio, wait_ns;
		bool meets; /* they do wait for each other */
	} groups[RANK_GROUPS];
	size_t group_count; /* 0: it has none */
	size_t group;       /* that loses the largest share of its time */
};
