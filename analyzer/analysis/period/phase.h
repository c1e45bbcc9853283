/* SPDX-License-Identifier: Apache-2.0 */
/* phase.h - what is at which phase of a period that was found: is it all of it, and how regular? */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/statistics/fold.h"

/* Times in events on the gapless index, and the stretches of it to look at. */
struct phase_series {
	const float *ns;
	double cap_ns;
	double event_share; /* of the values */
	const struct fold_segment *segments;
	size_t segment_count;
};

#define PHASE_PROMOTE_MOST 3

/*
 * Whether events at the best phase of P in truth come every kP, k up to PHASE_PROMOTE_MOST: of its
 * k phases of a row of kP, in blocks of rows, one has nearly all. Blocks are long enough to hold
 * several events. `scratch`: room for kP numbers.
 */
bool phase_is_multiple(const struct phase_series *series, size_t period, size_t k, double *scratch);

/*
 * Share of the time in events that is at the dominant phase: chosen on the even rows of each block
 * of 8 and measured on the odd ones, and the other way round. *ret_phase: the dominant one of all,
 * counted from the first row. `scratch`: room for 3 P numbers.
 */
double phase_share(const struct phase_series *series, size_t period, double *scratch,
		   size_t *ret_phase);
