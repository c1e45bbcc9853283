/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - compares two runs of the same training: which differences are more than noise?
 *
 * Values are means over all delivered batches; the first wait does not count. Two values differ if
 * the 95 % interval of their difference does not contain 0, and the difference is at least 2 % of
 * the step, as equal runs differ by up to 2 %. (For parts of a load, it is 2 % of the load; for the
 * stall ratio, 2 points.) "No difference" is said only if a speed-up of 1.25 would show.
 */
#pragma once

#include <stdbool.h>

#include "analysis/account/load.h"
#include "analysis/account/stall.h"
#include "analysis/account/step_parts.h"
#include "analysis/statistics/track.h"

#define COMPARE_LEAST_SHARE 0.02
/* "no difference" is said only if the speed-up is surely between 1 / this and this */
#define COMPARE_MOST_DOUBT  1.25

/* X(identifier, name in JSON, label for people) */
#define COMPARE_ROWS_LIST(X)                                                                       \
	/* wait + compute; where only their sum is known, this sum */                              \
	X(STEP, "step", "a batch")                                                                 \
	X(WAIT, "wait", "  waiting")                                                               \
	X(RECEIVING, "receiving", "    receiving") /* part of the wait, after the load's end */    \
	X(SAMPLING, "sampling", "    sampling")    /* part of the wait in which the sampler ran */ \
	/* making iterators, and the waits for an epoch's first batches */                         \
	X(EPOCH_START, "epoch_start", "    epoch starts")                                          \
	X(EPOCH_END, "epoch_end", "    epoch ends")                                                \
	X(COMPUTE, "compute", "  step")                                                            \
	X(BEFORE, "before", "    before backward") /* parts as in enum step_part */                \
	X(BACKWARD, "backward", "    backward")                                                    \
	X(BETWEEN, "between", "    between")                                                       \
	X(OPTIMIZER, "optimizer", "    optimizer")                                                 \
	X(SAVE, "save", "    saving")                                                              \
	X(GPU_BUSY, "gpu_busy", "GPU busy")                                                        \
	X(GPU_IDLE, "gpu_idle_wait", "GPU idle, waits")                                            \
	X(LOAD, "load", "load")                                                                    \
	X(OPEN, "open", "  open")                                                                  \
	X(READ, "read", "  read")                                                                  \
	X(DECODE, "decode", "  decode")                                                            \
	X(COLLATE, "collate", "  collate")                                                         \
	X(OTHER, "other", "  other")                                                               \
	X(TRANSFER, "transfer", "hand-over")                                                       \
	X(STALL, "stall", "stall") /* the stall ratio, which is not in nanoseconds */

enum compare_row {
#define X(id, name, label) COMPARE_##id,
	COMPARE_ROWS_LIST(X)
#undef X
	COMPARE_ROWS
};

struct compare_side {
	struct track tracks[COMPARE_ROWS];
	size_t block; /* batches in a block of the bootstrap */
	double stall_ratio;
};

int compare_add_series(struct compare_side *side, const struct batch_series *series,
		       const struct finding *finding);

/* Adds the times of a load and the parts of a step; times that are NAN are left out. */
int compare_add_times(struct compare_side *side, const struct load_times *times, double transfer_ns,
		      const double part_ns[STEP_TOLD_MAX]);

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

/* Returns true if load time grows nearly as the number of workers: the workers share some limit. */
bool compare_is_shared(const struct comparison *comparison, double workers_a, double workers_b);

/* Names in JSON. */
extern const char *const compare_row_names[COMPARE_ROWS];
extern const char *const compare_result_names[COMPARE_RESULTS];
