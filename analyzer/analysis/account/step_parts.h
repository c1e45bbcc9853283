/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_parts.h - divides the time of steps by what the training's thread did, by the host's clock.
 *
 * A loop that runs neither backward pass nor optimizer, such as a validation, is STEP_LOOPS. If
 * each step takes batches of several loaders, there is one loop only, and STEP_LOOPS is 0.
 * STEP_AFTER is the rest of the steps: metrics, logging, learning rate, time between epochs.
 */
#pragma once

#include <stdbool.h>

/* Steps of several loaders overlap if they take this many times the time that is left for them. */
#define STEP_OVERLAP 1.05

enum step_part {
	STEP_BEFORE,
	STEP_BACKWARD,
	STEP_BETWEEN,
	STEP_OPTIMIZER,
	STEP_SAVE,
	STEP_TOLD_MAX, /* number of parts whose times are in records */
	STEP_LOOPS = STEP_TOLD_MAX,
	STEP_AFTER,
	STEP_PART_MAX
};

/* Names in JSON. */
extern const char *const step_part_names[STEP_PART_MAX];

/* Times summed over the batches of one loader. NAN: not observed. */
struct step_sums {
	double ns[STEP_TOLD_MAX];
	double compute_ns;
	double save_ns; /* saves between the loader's epochs */
};

struct step_parts {
	bool is_split;
	/* false: no optimizer was seen; STEP_AFTER includes STEP_BETWEEN and STEP_OPTIMIZER */
	bool has_optimizer;
	double ns[STEP_PART_MAX]; /* NAN: not observed; the other parts add up to whole_ns */
	double whole_ns;
	double between_epochs_ns; /* part of STEP_AFTER; NAN: unknown, as steps overlap */
	double within_ns;         /* whole_ns without between_epochs_ns and STEP_LOOPS */
};

/* Adds a loader's sums to `parts`, which must be all zero at first. */
void step_parts_add(struct step_parts *parts, const struct step_sums *sums);

void step_parts_close(struct step_parts *parts, double whole_ns);

/* Returns the part's share of the steps; NAN if it was not observed, or steps are not split. */
double step_parts_share(const struct step_parts *parts, enum step_part part);
