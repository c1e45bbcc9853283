/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase.h - describes a period that was found: whether a multiple of it is the true one, and how
 * regular it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/statistics/fold.h"

/* The events' times by position, and the segments to look at. */
struct phase_series {
	const float *ns;
	double cap_ns;
	double event_share; /* share of the values that are events */
	const struct fold_segment *segments;
	size_t segment_count;
};

#define PHASE_PROMOTE_MOST 3

/*
 * Returns true if the true period is kP: the events at the best phase of P come only every k-th
 * time. In rows of kP, that phase becomes k phases, and in each block of rows one of them has
 * nearly all of its time. A block is long enough to hold several events. k is at most
 * PHASE_PROMOTE_MOST; `scratch` has room for kP numbers.
 */
bool phase_is_multiple(const struct phase_series *series, size_t period, size_t k, double *scratch);

/*
 * Returns the share of the events' time that is at the dominant phase. In each block of 8 rows, the
 * phase is chosen in the even rows and measured in the odd ones, and vice versa. *ret_phase is the
 * dominant phase of all rows, counted from the first row. `scratch` has room for 3 P numbers.
 */
double phase_share(const struct phase_series *series, size_t period, double *scratch,
		   size_t *ret_phase);
