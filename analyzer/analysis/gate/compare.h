/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - compares two runs of the same training: which differences are more than noise?
 *
 * Values are means over all delivered batches but the first. Two values differ if the 95 % interval
 * of their difference does not contain 0, and the difference is at least 2 % of the step (2 % of
 * the load for parts of loads, 2 points for the stall ratio), because equal runs differ by up to 2
 * %. "No difference" is said only if the interval would have shown a speed-up of 1.25.
 */
#pragma once

#include <stdbool.h>

#include "analysis/account/load.h"
#include "analysis/account/stall.h"
#include "analysis/account/step_parts.h"
#include "analysis/statistics/track.h"

#define COMPARE_LEAST_SHARE 0.02
/* "no difference" is said only if the speed-up's interval is within 1 / this and this */
#define COMPARE_MOST_DOUBT  1.25

enum compare_row {
	COMPARE_STEP, /* wait + compute; or the whole step where these two are unknown */
	COMPARE_WAIT,
	COMPARE_RECEIVING,   /* part of the wait after the batch was finished */
	COMPARE_SAMPLING,    /* part of the wait in which the sampler ran */
	COMPARE_EPOCH_START, /* making iterators, and the waits for an epoch's first batches */
	COMPARE_EPOCH_END,
	COMPARE_COMPUTE,
	COMPARE_BEFORE, /* parts of compute, in the order of enum step_part */
	COMPARE_BACKWARD,
	COMPARE_BETWEEN,
	COMPARE_OPTIMIZER,
	COMPARE_SAVE,
	COMPARE_GPU_BUSY,
	COMPARE_GPU_IDLE,
	COMPARE_LOAD,
	COMPARE_OPEN,
	COMPARE_READ,
	COMPARE_DECODE,
	COMPARE_COLLATE,
	COMPARE_OTHER,
	COMPARE_TRANSFER,
	COMPARE_STALL, /* the stall ratio, which is not in nanoseconds */
	COMPARE_ROWS
};

struct compare_side {
	struct track tracks[COMPARE_ROWS];
	size_t block; /* batches in a block of the bootstrap */
	double stall_ratio;
};

int compare_add_series(struct compare_side *side, const struct batch_series *series,
		       const struct finding *finding);

/* Adds the times of a load; times that are NAN are left out. */
int compare_add_load(struct compare_side *side, const struct load_times *times, double transfer_ns);

/* Adds the parts of a step; parts that are NAN are left out. */
int compare_add_parts(struct compare_side *side, const double part_ns[STEP_TOLD_MAX]);

void compare_side_done(struct compare_side *side);

struct compare_difference {
	double a, b;              /* means over batches in ns, or stall ratios; NAN: not observed */
	double change, low, high; /* change: b - a; low to high: its 95 % interval; NAN: unknown */
	bool differs;
};

enum compare_result {
	COMPARE_CANNOT_SAY, /* there are too few batches, or the interval is too wide */
	COMPARE_SAME,
	COMPARE_FASTER,
	COMPARE_SLOWER,
	COMPARE_RESULTS
};

struct comparison {
	enum compare_result result;
	double speedup, low, high; /* b is this many times as fast as a, with the 95 % interval */
	struct compare_difference rows[COMPARE_ROWS];
};

void compare_runs(const struct compare_side *a, const struct compare_side *b,
		  struct comparison *ret);

/* Returns true if loads get longer as much as workers get more, so that workers share a limit. */
bool compare_is_shared(const struct comparison *comparison, double workers_a, double workers_b);

/* Names in JSON. */
extern const char *const compare_row_names[COMPARE_ROWS];
extern const char *const compare_result_names[COMPARE_RESULTS];
