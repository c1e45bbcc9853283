/* SPDX-License-Identifier: Apache-2.0 */
/* rank_job.h - what is kept of the ranks of a job, and what rank.h and culprit.h make of it. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/stall.h"
#include "analysis/ranks/window.h"

#define RANK_WINDOWS 8 /* fewer wide windows show nothing: their ends weigh too much */

#define RANK_GROUPS 64 /* at most */

/* How fast a rank goes, from its begin to its end. */
#define PACE_CELLS 64

/* How fast a rank goes. All zero has no steps. Partials hold it as it is. */
struct pace {
	float cells[PACE_CELLS]; /* how long 1 << shift steps took, in ns */
	uint32_t shift, count;
	float rest_ns; /* time of the steps after the last full cell */
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
	double begin_ns, end_ns; /* first and last step, on a clock that the ranks share; NAN: not
				  * known */
	int32_t epoch, batch;    /* its first batch; batch < 0: it has none */
};

struct rank_blame {
	int32_t group;     /* number among the job's groups; -1: there are none */
	double wait_ns;    /* what the job waited and the rank is to blame for */
	double starved_ns; /* part of it, in steps in which the rank starved */
	double saved_ns;   /* what the job would gain, at most, if the rank's batches were ready */
	size_t step_count; /* steps that it is to blame for */
	bool is_culprit;
};

/* Ranks that go as fast as each other. Some groups are joined in the end. */
struct rank_group {
	struct windows by_step;
	struct rank_sums {        /* partials hold it as it is */
		struct pace pace; /* pace of the first rank */
		uint64_t rank_count, batch_count;
		uint64_t known_count;    /* ranks whose account is known */
		double wait_ns, time_ns; /* sums over their accounts */
	} sums;
};

struct rank_job {
	struct rank_group *groups;
	size_t group_count;
	struct windows by_clock; /* windows of bins of time, of all ranks */
	struct rank_base {       /* partials hold it as it is */
		int64_t epoch;
		size_t base, length;
	} * epochs;
	size_t epoch_count;
	int64_t origin_ns, bin_ns, step_ns;
	size_t rank_count;
	struct rank_member {
		float period_ns; /* how long its loader takes for a batch; 0: not known */
		float wait_ns;
		float starved_ns; /* part of it, for batches that were not ready */
		int32_t group;
		struct rank_place place;
	} * members; /* each rank */
};

/* Where the next epoch begins. No window straddles two, as other parts may have other epochs. */
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
	double wait_ns;       /* what the job lost, at most; the ranks' mean if RANK_ALONE */
	bool is_exact;        /* exact, not an upper bound: every wait lengthened its step */
	int32_t hidden;       /* the rank that starves most without making steps longer; -1: none */
	double time_ns;
	int width;            /* steps after which the ranks meet, at most; 0: not by step */
	double lag;           /* how much longer waits made the steps, aligned by step; NAN: no rank
			       * starved */
	int32_t culprit;      /* the rank, as rank_add() counts from 0; -1: no single one */
	size_t culprit_count; /* several may be to blame together: rank_blame has which */
	double saved_ns;      /* best guess of what is saved if all culprits' batches were ready */
	double gain_least, gain_most; /* range of the factor on speed then */
	double blame_share;           /* the culprits' share of the waits, or the largest; or NAN */
	size_t step_count;
	size_t shifted_count; /* ranks whose first batch has another number than most */
	int32_t shifted;      /* the first of these ranks: steps may be aligned wrongly */
	double apart_ns;      /* how far a rank's clock seems to be off; 0: none is */
	/* The groups, where not all ranks wait for each other; all else here is then of `group`. */
	struct rank_part {
		double stall_ratio, wait_ns;
		bool meets; /* they do wait for each other */
	} groups[RANK_GROUPS];
	size_t group_count; /* 0: all ranks are one */
	size_t group;       /* the one that loses the largest share of its time */
};
