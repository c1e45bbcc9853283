/* SPDX-License-Identifier: Apache-2.0 */
/* phase.h - says whether a multiple of a found period is the true one, and how regular it is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/statistics/fold.h"

struct phase_series {
	const float *ns;
	double cap_ns;
	double event_share; /* share of the values that are events */
	const struct fold_segment *segments;
	size_t segment_count;
};

#define PHASE_PROMOTE_MOST 3

/*
 * Returns true if the true period is kP: then, in rows of kP, one of the k phases has nearly all
 * time. k <= PHASE_PROMOTE_MOST; `scratch` has room for kP numbers.
 */
bool phase_is_multiple(const struct phase_series *series, size_t period, size_t k, double *scratch);

/*
 * Cross-validated between even and odd rows. *ret_phase counts from the first row. `scratch` has
 * room for 3 P numbers.
 */
double phase_share(const struct phase_series *series, size_t period, double *scratch,
		   size_t *ret_phase);
