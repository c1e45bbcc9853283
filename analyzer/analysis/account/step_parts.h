/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_parts.h - what the thread that trains does in its steps, by the host's clock.
 *
 * Of the loaders that it asks, one in whose steps no backward pass and no optimizer ran is another
 * loop: a validation. All else of the steps that is in no part came after them: metrics, logging,
 * the learning rate's schedule, and what is done between two epochs.
 */
#pragma once

#include <stdbool.h>

enum step_part {
	STEP_BEFORE,
	STEP_BACKWARD,
	STEP_BETWEEN,
	STEP_OPTIMIZER,
	STEP_SAVE,
	STEP_TOLD_MAX, /* of these a record tells */
	STEP_LOOPS = STEP_TOLD_MAX,
	STEP_AFTER,
	STEP_PART_MAX
};

/* As JSON has them. */
extern const char *const step_part_names[STEP_PART_MAX];

/* Of one loader's batches. NAN: not observed. */
struct step_sums {
	double ns[STEP_TOLD_MAX];
	double compute_ns;
	double save_ns; /* checkpoints between its epochs */
};

struct step_parts {
	bool is_split;
	/* An optimizer was seen. Else its time, and what lies before it, came after. */
	bool has_optimizer;
	double ns[STEP_PART_MAX]; /* NAN: not observed; their sum is whole_ns */
	double whole_ns;
};

/* Adds a loader's. Starts from all zero. */
void step_parts_add(struct step_parts *parts, const struct step_sums *sums);

/* All of them are added: the thread's steps take `whole_ns`. */
void step_parts_close(struct step_parts *parts, double whole_ns);

/* Share of the steps; NAN: not observed, or they are not split. */
double step_parts_share(const struct step_parts *parts, enum step_part part);
