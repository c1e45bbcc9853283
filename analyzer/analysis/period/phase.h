/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase.h - describes a period that was found: is a multiple the true one, and how regular is it?
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/statistics/fold.h"

/* The events' times on the gapless index, and the segments of it to look at. */
struct phase_series {
	const float *ns;
	double cap_ns;
	double event_share; /* share of the values that are events */
	const struct fold_segment *segments;
	size_t segment_count;
};

#define PHASE_PROMOTE_MOST 3

/*
 * Returns true if the events at the best phase of P in truth come every kP, for k up to
 * PHASE_PROMOTE_MOST. In rows of kP that phase becomes k phases, and one of them then has nearly
 * all the time of a block. Blocks of rows are long enough to hold several events. `scratch` has
 * room for kP numbers.
 */
bool phase_is_multiple(const struct phase_series *series, size_t period, size_t k, double *scratch);

/*
 * Returns the share of the events' time at the dominant phase, which is chosen on the even rows of
 * each block of 8 and measured on the odd ones, and the other way round. *ret_phase is the dominant
 * phase of all rows, counted from the first row. `scratch` has room for 3 P numbers.
 */
double phase_share(const struct phase_series *series, size_t period, double *scratch,
		   size_t *ret_phase);
