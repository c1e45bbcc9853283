/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - compares two runs of the same training: what takes longer, what takes less, and what
 * is noise.
 *
 * Times are means over all delivered batches but the first, whose wait is start-up. The time to
 * begin and end an epoch counts in the wait of the epoch's first batch, so starting workers only
 * once shows as a difference. The stall ratio is the account's (account.h). Two values differ if
 * the 95 % interval of the change leaves out 0, and the change is at least 2 % of the step (of the
 * load, for parts of a load; 2 points for the stall ratio): equal runs differ by up to that much
 * for reasons that no single run shows. Runs are called equal only if the interval is so narrow
 * that a speed-up of 1.25 would have shown.
 */
#pragma once

#include <stdbool.h>

#include "analysis/account/load.h"
#include "analysis/account/stall.h"
#include "analysis/account/step_parts.h"
#include "analysis/statistics/track.h"

#define COMPARE_LEAST_SHARE 0.02
#define COMPARE_MOST_DOUBT  1.25 /* if a speed-up's interval ends above this, "no difference" cannot
				  * be said */

enum compare_row {
	COMPARE_STEP, /* wait + compute; the whole step if only that is known */
	COMPARE_WAIT,
	COMPARE_RECEIVING,   /* part of the wait after the batch was finished */
	COMPARE_SAMPLING,    /* part of the wait in which the sampler ran */
	COMPARE_EPOCH_START, /* making iterators, and the waits for an epoch's first batches */
	COMPARE_EPOCH_END,
	COMPARE_COMPUTE,
	COMPARE_BEFORE, /* first of the parts of compute, in the order of enum step_part */
	COMPARE_BACKWARD,
	COMPARE_BETWEEN,
	COMPARE_OPTIMIZER,
	COMPARE_SAVE,
	COMPARE_GPU_BUSY,
	COMPARE_GPU_IDLE, /* the GPU's idle time while the consumer waited */
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

/* One run, as a mean for each row; all zero at first. */
struct compare_side {
	struct track tracks[COMPARE_ROWS];
	size_t block; /* batches in a block of the bootstrap: 2 p W */
	double stall_ratio;
};

/* Adds the waits and steps of a judged series. */
int compare_add_series(struct compare_side *side, const struct batch_series *series,
		       const struct finding *finding);

/* Adds the times of one load; a time that is NAN is left out. */
int compare_add_load(struct compare_side *side, const struct load_times *times, double transfer_ns);

/* Adds the parts of one step; a part that is NAN is left out. */
int compare_add_parts(struct compare_side *side, const double part_ns[STEP_TOLD_MAX]);

void compare_side_done(struct compare_side *side);

struct compare_difference {
	double a, b;              /* means over batches in ns, or stall ratios; NAN: not observed */
	double change, low, high; /* b - a, and its 95 % interval; NAN: not known */
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
	double speedup, low, high; /* batches a second of b / those of a, and its 95 % interval */
	struct compare_difference rows[COMPARE_ROWS];
};

void compare_runs(const struct compare_side *a, const struct compare_side *b,
		  struct comparison *ret);

/*
 * Returns true if loads get longer nearly in proportion to the number of workers (which must differ
 * by a quarter or more): the workers then share what they wait for, so more of them gain nothing.
 */
bool compare_is_shared(const struct comparison *comparison, double workers_a, double workers_b);

/* Names of rows and results in JSON. */
extern const char *const compare_row_names[COMPARE_ROWS];
extern const char *const compare_result_names[COMPARE_RESULTS];
