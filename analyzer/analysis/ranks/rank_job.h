/* SPDX-License-Identifier: Apache-2.0 */
/* rank_job.h - the data about the ranks of a job, and the results of rank.h and culprit.h. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/stall.h"
#include "analysis/ranks/window.h"
#include "analysis/statistics/array.h"

#define RANK_WINDOWS 8 /* with fewer windows, the two incomplete ones at the ends count too much */

#define RANK_GROUPS 64

/* Cells of a rank's pace cover the whole run. */
#define PACE_CELLS 64

/* Time of a rank's steps. store/fleet/part.c stores this struct as it is. */
struct pace {
	float cells[PACE_CELLS]; /* cell i has the time of 1 << shift steps, in ns */
	uint32_t shift, count;
	float rest_ns; /* time of the steps after the last full cell */
	uint32_t rest;
};

static inline size_t pace_steps(const struct pace *pace)
{
	return ((size_t)pace->count << pace->shift) + pace->rest;
}

enum rank_alignment { RANK_BY_STEP, RANK_BY_CLOCK, RANK_ALONE, RANK_ALIGNMENTS };

/* begin_ns is by a clock that the ranks share. */
struct rank_epoch {
	int32_t epoch;
	int64_t begin_ns;
};

/* Returns when an epoch begins by the common clock; NAN: unknown. `epochs` ascend. */
static inline double rank_epoch_begin(const struct rank_epoch *epochs, size_t count, int32_t epoch)
{
	size_t at = ARRAY_PLACE(count, i, epochs[i].epoch < epoch);

	return at < count && epochs[at].epoch == epoch ? (double)epochs[at].begin_ns : NAN;
}

/* When, and with which batch, a rank begins and ends. Partials store this struct as it is. */
struct rank_place {
	double begin_ns, end_ns; /* of the rank's steps, on a common clock; NAN: unknown */
	int32_t epoch, batch;   /* epoch and ordinal of the first batch; batch < 0: none */
};

struct rank_blame {
	int32_t group;     /* -1: there are no groups */
	double wait_ns;    /* job's waits that the rank is to blame for */
	double starved_ns; /* part of wait_ns in which the rank starved */
	double saved_ns;   /* saved time, at most, if the rank's batches are always ready */
	size_t step_count;
	bool is_culprit;
};

struct rank_group {
	struct windows by_step;
	struct rank_sums {        /* store/fleet/part.c stores it as it is */
		struct pace pace; /* pace of the group's first rank */
		uint64_t rank_count, batch_count;
		uint64_t known_count;
		double wait_ns, time_ns; /* sums over the accounts of these known_count ranks */
	} sums;
};

struct rank_job {
	struct rank_group *groups;
	size_t group_count;
	struct windows by_clock; /* bins of time, over all ranks */
	struct rank_base {       /* store/fleet/part.c stores it as it is */
		int64_t epoch;
		size_t base, length;
	} * epochs;
	size_t epoch_count;
	int64_t origin_ns, bin_ns, step_ns;
	size_t rank_count;
	struct rank_member {
		float period_ns; /* mean time for a batch in the rank's loader; 0: unknown */
		float wait_ns;
		float starved_ns; /* part of wait_ns for batches that were not ready */
		int32_t group;
		struct rank_place place;
	} * members;
};

/*
 * Returns where the next epoch begins: at a multiple of the widest window, so that no window has
 * steps of two epochs. If a part of the job lacks an epoch, whole windows move.
 */
static inline size_t rank_behind(const struct rank_base *epoch)
{
	const size_t widest = (size_t)1 << (WINDOW_WIDTHS - 1);

	return epoch->base + (epoch->length + widest - 1) / widest * widest;
}

struct rank_finding {
	enum rank_alignment alignment;
	enum stall_verdict verdict;
	bool starved;
	double stall_ratio;   /* NAN: no rank's account is known */
	double trimmed_ratio; /* without the largest 0.5 % of the waits, which are single events */
	double wait_ns; /* at most so much of the job's time is lost; RANK_ALONE: mean over ranks */
	bool is_exact;        /* wait_ns is exact */
	int32_t hidden; /* rank that starves most, but whose waits lengthen no step; -1: none */
	double time_ns;
	int width;       /* ranks meet at least once in `width` steps; 0: not aligned by step */
	double lag;      /* part of the waits that made steps longer (rank.h); NAN: none starved */
	int32_t culprit; /* the culprit, numbered as by rank_add(); -1: none, or several */
	size_t culprit_count;
	double saved_ns; /* estimate of the time saved if all batches of culprits were ready */
	double gain_least, gain_most; /* range of the speed-up in that case */
	/* share of the waits that culprits have or, without any, the worst rank; or NAN */
	double blame_share;
	size_t step_count;
	size_t shifted_count; /* ranks whose first ordinal differs from most ranks' */
	int32_t shifted;      /* first of these ranks; its steps may be aligned wrongly */
	double apart_ns;      /* a rank's clock seems to be off by this much */
	/* Groups of ranks that do not wait for each other. The members above are about `group`. */
	struct rank_part {
		double stall_ratio, wait_ns;
		bool meets;
	} groups[RANK_GROUPS];
	size_t group_count; /* 0: all ranks are one group */
	size_t group;       /* group that loses the largest share of its time */
};
