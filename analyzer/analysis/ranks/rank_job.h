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

#define RANK_WINDOWS 8 /* a width needs this many windows, as the two at the ends are incomplete */

#define RANK_GROUPS 64

#define PACE_CELLS 64

/* How fast a rank makes steps, over the run. store/fleet/part.c stores this struct as it is. */
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

/* When an epoch of a rank begins, by a clock that the ranks share. */
struct rank_epoch {
	int32_t epoch;
	int64_t begin_ns;
};

/* Returns when an epoch begins by the common clock; NAN: unknown. `epochs` are in order. */
static inline double rank_epoch_begin(const struct rank_epoch *epochs, size_t count, int32_t epoch)
{
	size_t at = ARRAY_PLACE(count, i, epochs[i].epoch < epoch);

	return at < count && epochs[at].epoch == epoch ? (double)epochs[at].begin_ns : NAN;
}

/* When a rank begins and ends, and its first batch. Partials store this struct as it is. */
struct rank_place {
	double begin_ns, end_ns; /* first step's begin, last one's end, by a common clock, or NAN */
	int32_t epoch, batch;   /* epoch and ordinal of the first batch; batch < 0: none */
};

struct rank_blame {
	int32_t group;     /* -1: there are no groups */
	double wait_ns;    /* the part of the job's waits for which this rank is to blame */
	double starved_ns; /* the part of wait_ns in which this rank starved */
	double saved_ns;   /* the job saves at most this if this rank's batches are always ready */
	bool is_culprit;
};

struct rank_group {
	struct windows by_step;
	struct rank_sums {        /* store/fleet/part.c stores this struct as it is */
		struct pace pace; /* pace of the group's first rank */
		uint64_t rank_count, batch_count;
		uint64_t known_count;
		double wait_ns, time_ns; /* sums over the known_count ranks that have an account */
	} sums;
};

struct rank_job {
	struct rank_group *groups;
	size_t group_count;
	struct windows by_clock; /* bins of time, over all ranks */
	struct rank_base {       /* store/fleet/part.c stores this struct as it is */
		int64_t epoch;
		size_t base, length;
	} * epochs;
	size_t epoch_count;
	int64_t origin_ns, bin_ns, step_ns;
	size_t rank_count;
	struct rank_member {
		float period_ns; /* mean time of the rank's loader for a batch; 0: unknown */
		float wait_ns;
		float starved_ns; /* part of wait_ns for batches that were not ready */
		int32_t group;
		struct rank_place place;
	} * members;
};

/*
 * Returns the index of the next epoch's first step, a multiple of the widest window's length. So no
 * window has steps of two epochs, and merge.c can move a part's windows without dividing any.
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
	double wait_ns; /* the job lost at most this; RANK_ALONE: the mean over its ranks */
	bool is_exact;        /* the job lost just wait_ns */
	int32_t hidden; /* rank that starves most, though its waits lengthen no step; -1: none */
	double time_ns;
	int width;       /* ranks meet (rank.h) once in `width` steps; 0: not aligned by step */
	double lag;      /* near 0 if ranks wait for each other (rank.h); NAN: no rank starved */
	int32_t culprit; /* the culprit, numbered as by rank_add(); -1: none, or several */
	size_t culprit_count;
	double saved_ns; /* the job saves about this if the culprits' batches are always ready */
	double gain_least, gain_most; /* range of the job's speed-up with saved_ns */
	/* share of the waits for which the culprits, or else the worst rank, are to blame */
	double blame_share;
	size_t step_count;
	size_t shifted_count; /* number of ranks whose first ordinal differs from that of most */
	int32_t shifted;      /* first rank whose first ordinal differs; may be aligned wrongly */
	double apart_ns;      /* the clock of some rank seems to be wrong by this much */
	/* Groups of ranks that do not wait for each other. The members above are about `group`. */
	struct rank_part {
		double stall_ratio, wait_ns;
		bool meets;
	} groups[RANK_GROUPS];
	size_t group_count; /* 0: all ranks are one group */
	size_t group;       /* group that loses the largest share of its time */
};
